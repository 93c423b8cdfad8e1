/* mg_loops.h -- rows of cells of a multigrid in one precision; included by mg_kernel.c. */

/* ---- a level: corrections ---- */

/* What a row needs: coefficients along x by cell, and its neighbours along y and z. */
typedef struct MG_NAME(row) {
    const REAL *low, *high, *middle; /* along x, of even bodies; else of faces and the diagonal */
    const REAL *g[4];                /* of the faces to the rows beside, of others */
    REAL k[4], rest;       /* the same of even bodies, and the rows' part of the diagonal */
    const REAL *beside[4]; /* e of the rows at y - 1, y + 1, z - 1, z + 1 */
} MG_NAME(row);

SEL_INLINE MG_NAME(row) MG_NAME(row_of)(const mg *m, const mg_level *v, int64_t y, int64_t z) {
    const int64_t at = y * v->stride[1] + z * v->stride[2], of[2] = {y, z};
    MG_NAME(row) r = {.rest = 0};
    for (int k = 0; k < 2 * (m->box.dims - 1); k++) {
        const int axis = 1 + k / 2;
        r.beside[k] = (const REAL *)v->e + at + (k % 2 ? v->stride[axis] : -v->stride[axis]);
        if (m->box.even) {
            r.k[k] = ((const REAL *)v->table[axis][k % 2 ? MG_HIGH : MG_LOW])[of[k / 2]];
            r.rest += k % 2 ? ((const REAL *)v->table[axis][MG_MIDDLE])[of[k / 2]] : 0;
        } else {
            r.g[k] = (const REAL *)v->g[axis] + at + (k % 2 ? v->stride[axis] : 0);
        }
    }
    r.low = m->box.even ? v->table[0][MG_LOW] : (const REAL *)v->g[0] + at;
    r.high = m->box.even ? (const REAL *)v->table[0][MG_HIGH] : (const REAL *)v->g[0] + at + 1;
    r.middle = m->box.even ? v->table[0][MG_MIDDLE] : (const REAL *)v->d + at;
    return r;
}

/* f + what the neighbours of cell x add, and the diagonal. */
SEL_INLINE REAL MG_NAME(around)(const MG_NAME(row) * r, bool even, bool deep, const REAL *e,
                                const REAL *f, int64_t x, REAL *diagonal) {
    REAL sum = f[x] + r->low[x] * e[x - 1] + r->high[x] * e[x + 1];
    *diagonal = r->middle[x];
    if (even) {
        *diagonal += r->rest;
        sum += r->k[0] * r->beside[0][x] + r->k[1] * r->beside[1][x];
        sum += deep ? r->k[2] * r->beside[2][x] + r->k[3] * r->beside[3][x] : 0;
    } else {
        sum += r->g[0][x] * r->beside[0][x] + r->g[1][x] * r->beside[1][x];
        sum += deep ? r->g[2][x] * r->beside[2][x] + r->g[3][x] * r->beside[3][x] : 0;
    }
    return sum;
}

SEL_INLINE void MG_NAME(do_relax)(const mg *m, const mg_level *v, bool even, bool deep, int colour,
                                  REAL omega, int64_t y, int64_t z) {
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    const MG_NAME(row) r = MG_NAME(row_of)(m, v, y, z);
    const int n = (int)v->n[0], parity = (int)((y + z + colour) & 1);
    const REAL *f = (const REAL *)v->f + at;
    REAL *e = (REAL *)v->e + at;
    const REAL *row = e;
    __asm__("" : "+r"(row)); /* hides that it is e: compilers would see neighbours change in turn */
    MG_INDEPENDENT
    for (int x = 0; x < n; x++) {
        REAL diagonal;
        const REAL sum = MG_NAME(around)(&r, even, deep, row, f, x, &diagonal);
        const REAL found = diagonal > 0 ? sum / diagonal : 0;
        e[x] += omega * (REAL)((x + parity + 1) & 1) * (found - e[x]);
    }
    if (m->box.periodic & 1u) {
        e[-1] = e[n - 1];
        e[n] = e[0];
    }
}

static void MG_NAME(relax)(const mg *m, int level, int colour, double omega, int64_t y, int64_t z) {
    const mg_level *v = &m->level[level];
    const bool deep = m->box.dims == 3;
    if (m->box.even) {
        deep ? MG_NAME(do_relax)(m, v, true, true, colour, (REAL)omega, y, z)
             : MG_NAME(do_relax)(m, v, true, false, colour, (REAL)omega, y, z);
    } else {
        deep ? MG_NAME(do_relax)(m, v, false, true, colour, (REAL)omega, y, z)
             : MG_NAME(do_relax)(m, v, false, false, colour, (REAL)omega, y, z);
    }
}

/* Adds weight times the residual of a row to `sum`. */
SEL_INLINE void MG_NAME(add_residual)(const mg *m, const mg_level *v, bool even, bool deep,
                                      REAL weight, int64_t y, int64_t z, REAL *sum) {
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    const MG_NAME(row) r = MG_NAME(row_of)(m, v, y, z);
    const REAL *f = (const REAL *)v->f + at, *e = (const REAL *)v->e + at;
    const int n = (int)v->n[0];
    MG_INDEPENDENT
    for (int x = 0; x < n; x++) {
        REAL diagonal;
        const REAL around = MG_NAME(around)(&r, even, deep, e, f, x, &diagonal);
        sum[x] += diagonal > 0 ? weight * (around - diagonal * e[x]) : 0;
    }
}

/* f of row (y, z) of the next level, whose e becomes 0. */
static void MG_NAME(take_residual)(const mg *m, int level, int64_t y, int64_t z, void *scratch) {
    const mg_level *v = &m->level[level], *to = v + 1;
    const int64_t at = y * to->stride[1] + z * to->stride[2], n = v->n[0];
    const REAL *weight = v->table[0][MG_RESIDUAL];
    REAL *sum = (REAL *)scratch + 2, *f = (REAL *)to->f + at, *e = (REAL *)to->e + at;
    const bool deep = m->box.dims == 3;
    for (int64_t x = -1; x < n + 2; x++) {
        sum[x] = 0;
    }
    for (int k = 0; k < 9; k++) {
        const int64_t j = (v->half[1] ? 2 * y : y) + k % 3 - 1;
        const int64_t i = (v->half[2] ? 2 * z : z) + k / 3 - 1;
        const REAL w = ((const REAL *)v->table[1][MG_RESIDUAL])[3 * y + k % 3] *
                       ((const REAL *)v->table[2][MG_RESIDUAL])[3 * z + k / 3];
        if (w != 0) {
            const int64_t row = (j + v->n[1]) % v->n[1], plane = (i + v->n[2]) % v->n[2];
            if (m->box.even) {
                deep ? MG_NAME(add_residual)(m, v, true, true, w, row, plane, sum)
                     : MG_NAME(add_residual)(m, v, true, false, w, row, plane, sum);
            } else {
                deep ? MG_NAME(add_residual)(m, v, false, true, w, row, plane, sum)
                     : MG_NAME(add_residual)(m, v, false, false, w, row, plane, sum);
            }
        }
    }
    sum[-1] = m->box.periodic & 1u ? sum[n - 1] : 0;
    if (v->half[0]) {
        MG_INDEPENDENT
        for (int64_t x = 0; x < to->n[0]; x++) {
            f[x] = weight[3 * x] * sum[2 * x - 1] + weight[3 * x + 1] * sum[2 * x] +
                   weight[3 * x + 2] * sum[2 * x + 1];
        }
    } else {
        for (int64_t x = 0; x < n; x++) {
            f[x] = weight[3 * x + 1] * sum[x];
        }
    }
    for (int64_t x = -1; x <= to->n[0]; x++) {
        e[x] = 0;
    }
    for (int64_t x = 0; x < to->n[0] && !m->box.even; x++) {
        f[x] = ((const REAL *)to->d + at)[x] > 0 ? f[x] : 0;
    }
}

/* Adds the corrections of the next level to a row. */
static void MG_NAME(correct)(const mg *m, int level, int64_t y, int64_t z, void *scratch) {
    const mg_level *v = &m->level[level], *from = v + 1;
    const int64_t at = y * v->stride[1] + z * v->stride[2], n = v->n[0], of[2] = {y, z};
    const REAL *own = v->table[0][MG_OWN], *other = v->table[0][MG_OTHER];
    const REAL *d = m->box.even ? NULL : (const REAL *)v->d + at;
    REAL *e = (REAL *)v->e + at, *c = (REAL *)scratch + 2, *fine = c + from->n[0] + 2;
    int64_t row[2][2];
    REAL weight[2][2];
    for (int a = 0; a < 2; a++) {
        const int64_t i = of[a];
        row[a][0] = v->half[a + 1] ? i >> 1 : i;
        row[a][1] = row[a][0] + (i & 1 ? 1 : -1);
        weight[a][0] = ((const REAL *)v->table[a + 1][MG_OWN])[i];
        weight[a][1] = ((const REAL *)v->table[a + 1][MG_OTHER])[i];
    }
    for (int64_t x = -1; x <= from->n[0]; x++) {
        c[x] = 0;
    }
    for (int k = 0; k < 4; k++) {
        const REAL w = weight[0][k % 2] * weight[1][k / 2];
        const REAL *coarse = (const REAL *)from->e + row[0][k % 2] * from->stride[1] +
                             row[1][k / 2] * from->stride[2];
        for (int64_t x = -1; x <= from->n[0] && w != 0; x++) {
            c[x] += w * coarse[x];
        }
    }
    if (v->half[0]) {
        MG_INDEPENDENT
        for (int64_t x = 0; x < n / 2; x++) {
            fine[2 * x] = own[2 * x] * c[x] + other[2 * x] * c[x - 1];
            fine[2 * x + 1] = own[2 * x + 1] * c[x] + other[2 * x + 1] * c[x + 1];
        }
        if (n % 2) {
            fine[n - 1] = own[n - 1] * c[n / 2] + other[n - 1] * c[n / 2 - 1];
        }
    } else {
        fine = c;
    }
    for (int64_t x = 0; x < n; x++) {
        e[x] += d && !(d[x] > 0) ? 0 : fine[x];
    }
    if (m->box.periodic & 1u) {
        e[-1] = e[n - 1];
        e[n] = e[0];
    }
}

/* ---- the finest level: solutions ---- */

/* (A u)[x] of a row to `to`; the row with its neighbours along x stands in scratch. */
SEL_INLINE void MG_NAME(product)(const mg *m, mg_vector u, int64_t y, int64_t z,
                                 double *restrict to, double *scratch) {
    const mg_level *v = &m->level[0];
    const int64_t of[3] = {0, y, z}, n = v->n[0];
    const double *row = u.v + y * u.stride[1] + z * u.stride[2];
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    double *here = scratch + 1, rest = 0;
    for (int64_t x = 0; x < n; x++) {
        here[x] = row[x];
    }
    here[-1] = row[n - 1];
    here[n] = row[0];
    for (int a = 1; a < 3; a++) {
        rest += m->middle[a][of[a]];
    }
    if (m->box.even) {
        for (int64_t x = 0; x < n; x++) {
            to[x] = (m->middle[0][x] + rest) * here[x] - m->low[0][x] * here[x - 1] -
                    m->high[0][x] * here[x + 1];
        }
    } else {
        const double *g = (const double *)v->g[0] + at, *d = (const double *)v->d + at;
        for (int64_t x = 0; x < n; x++) {
            to[x] = d[x] * here[x] - g[x] * here[x - 1] - g[x + 1] * here[x + 1];
        }
    }
    for (int k = 0; k < 2 * (m->box.dims - 1); k++) {
        const int a = 1 + k / 2;
        const int64_t last = v->n[a] - 1, i = of[a] + (k % 2 ? 1 : -1);
        const int64_t other = i < 0 ? last : i > last ? 0 : i;
        const double *beside = row + (other - of[a]) * u.stride[a];
        if (m->box.even) {
            const double c = (k % 2 ? m->high : m->low)[a][of[a]];
            for (int64_t x = 0; x < n; x++) {
                to[x] -= c * beside[x];
            }
        } else {
            const double *g = (const double *)v->g[a] + at + (k % 2 ? v->stride[a] : 0);
            for (int64_t x = 0; x < n; x++) {
                to[x] -= g[x] * beside[x];
            }
        }
    }
}

/* The part of the volume of cell x inside; 0 where e is not sought. Rows of bodies that are not
 * even have been multiplied by it. */
SEL_INLINE double MG_NAME(part_of)(const mg *m, const double *d, double rows, int64_t x) {
    return d ? d[x] > 0 : m->part[0][x] * rows;
}

static void MG_NAME(residual)(const mg *m, mg_vector u, const double *F, int64_t y, int64_t z,
                              double *scratch, double sums[3]) {
    const mg_level *v = &m->level[0];
    const int64_t at = y * v->stride[1] + z * v->stride[2], n = v->n[0];
    const int64_t from = y * u.stride[1] + z * u.stride[2];
    const double *d = m->box.even ? NULL : (const double *)v->d + at;
    const double rows = m->part[1][y] * m->part[2][z];
    double *product = scratch + n + 4;
    REAL *f = (REAL *)v->f + at;
    MG_NAME(product)(m, u, y, z, product, scratch);
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t x = 0; x < n; x++) {
        const double part = MG_NAME(part_of)(m, d, rows, x), here = u.v[from + x];
        const double r = part > 0 ? F[from + x] - product[x] : 0;
        f[x] = (REAL)r;
        sums[0] += part * r * r;
        sums[1] += part * here * here;
        sums[2] += part > 0 ? m->part[0][x] * rows * here : 0;
    }
}

static void MG_NAME(direct)(const mg *m, mg_vector p, double beta, int64_t y, int64_t z) {
    const mg_level *v = &m->level[0];
    const REAL *e = (const REAL *)v->e + y * v->stride[1] + z * v->stride[2];
    double *to = p.v + y * p.stride[1] + z * p.stride[2];
    for (int64_t x = 0; x < v->n[0]; x++) {
        to[x] = (double)e[x] + beta * to[x];
    }
}

static void MG_NAME(apply)(const mg *m, mg_vector p, double *q, int64_t y, int64_t z,
                           double *scratch, double sums[2]) {
    const mg_level *v = &m->level[0];
    const int64_t at = y * v->stride[1] + z * v->stride[2], n = v->n[0];
    const int64_t from = y * p.stride[1] + z * p.stride[2];
    const double *d = m->box.even ? NULL : (const double *)v->d + at;
    const double rows = m->part[1][y] * m->part[2][z];
    const REAL *f = (const REAL *)v->f + at;
    double *product = scratch + n + 4;
    MG_NAME(product)(m, p, y, z, product, scratch);
    sums[0] = sums[1] = 0;
    for (int64_t x = 0; x < n; x++) {
        const double part = MG_NAME(part_of)(m, d, rows, x);
        q[from + x] = product[x];
        sums[0] += part * p.v[from + x] * product[x];
        sums[1] += part * p.v[from + x] * (double)f[x];
    }
}

static double MG_NAME(dot)(const mg *m, const double *q, int64_t y, int64_t z) {
    const mg_level *v = &m->level[0];
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    const double *d = m->box.even ? NULL : (const double *)v->d + at;
    const double rows = m->part[1][y] * m->part[2][z];
    const REAL *e = (const REAL *)v->e + at;
    double sum = 0;
    for (int64_t x = 0; x < v->n[0]; x++) {
        sum += MG_NAME(part_of)(m, d, rows, x) * (double)e[x] * q[x];
    }
    return sum;
}

static void MG_NAME(divide)(const mg *m, int64_t y, int64_t z) {
    const mg_level *v = &m->level[0];
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    const MG_NAME(row) r = MG_NAME(row_of)(m, v, y, z);
    const REAL *f = (const REAL *)v->f + at;
    REAL *e = (REAL *)v->e + at;
    for (int64_t x = 0; x < v->n[0]; x++) {
        const REAL d = r.middle[x] + r.rest;
        e[x] = d > 0 ? f[x] / d : 0;
    }
}

static void MG_NAME(add)(const mg *m, mg_vector u, const double *p, double alpha, double shift,
                         double *to, int64_t y, int64_t z) {
    const mg_level *v = &m->level[0];
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    const int64_t from = y * u.stride[1] + z * u.stride[2];
    const double *d = m->box.even ? NULL : (const double *)v->d + at;
    const double rows = m->part[1][y] * m->part[2][z];
    const REAL *e = (const REAL *)v->e + at;
    for (int64_t x = 0; x < v->n[0]; x++) {
        const double change = alpha * (p ? p[from + x] : (double)e[x]) - shift;
        const bool sought = MG_NAME(part_of)(m, d, rows, x) > 0;
        to[from + x] = u.v[from + x] + (sought ? change : 0);
    }
}
