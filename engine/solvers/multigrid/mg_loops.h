/* mg_loops.h -- rows of cells of a multigrid level in one precision: smoothing, residual,
 * restriction, prolongation; included by mg_kernel.c. */

/* The coefficients and neighbours of a row. In an even body (m->box.even) the couplings are tables
 * by axis, and the diagonal is the sum of its parts along the axes; in others they are stored by
 * face and by cell. */
typedef struct MG_NAME(row) {
    const REAL *low, *high, *middle; /* by cell: coupling to x - 1, to x + 1; the diagonal (even:
                                        its part along x) */
    const REAL *g[4];                /* not even: couplings to the rows beside, by cell */
    REAL k[4], rest;                 /* even: couplings to the rows beside; rest of the diagonal */
    const REAL *beside[4];           /* e of the rows at y - 1, y + 1, z - 1, z + 1 */
} MG_NAME(row);

SEL_INLINE MG_NAME(row) MG_NAME(row_of)(const mg *m, const mg_level *v, int64_t y, int64_t z) {
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    const int64_t of[2] = {mg_image(y, v->n[1]), mg_image(z, v->n[2])};
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

/* The sum of the couplings times the neighbours of cell x, and the diagonal. */
SEL_INLINE REAL MG_NAME(around)(bool even, bool deep, const MG_NAME(row) * r, const REAL *e,
                                int64_t x, REAL *diagonal) {
    REAL sum = r->low[x] * e[x - 1] + r->high[x] * e[x + 1];
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

/* Relaxes the cells of one colour of a row. The results wait in a tile: a store to e would delay
 * the next loads, which overlap with it. */
SEL_INLINE void MG_NAME(do_relax)(bool even, bool deep, const mg *m, const mg_level *v, int colour,
                                  REAL omega, int64_t y, int64_t z) {
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    const MG_NAME(row) r = MG_NAME(row_of)(m, v, y, z);
    const int n = (int)v->n[0], parity = (int)((y + z + colour) & 1);
    const REAL *f = (const REAL *)v->f + at;
    REAL *e = (REAL *)v->e + at, found[MG_TILE];
    for (int begin = 0; begin < n; begin += MG_TILE) {
        const int count = n - begin < MG_TILE ? n - begin : MG_TILE;
        REAL *here = e + begin;
        MG_INDEPENDENT
        for (int k = 0; k < count; k++) {
            REAL diagonal;
            const REAL sum = MG_NAME(around)(even, deep, &r, e, begin + k, &diagonal);
            found[k] = diagonal > 0 ? (f[begin + k] + sum) / diagonal : 0;
        }
        MG_INDEPENDENT
        for (int k = 0; k < count; k++) {
            here[k] += omega * (REAL)((k + parity + 1) & 1) * (found[k] - here[k]);
        }
    }
    if (m->box.periodic & 1u) {
        e[-1] = e[n - 1];
        e[n] = e[0];
    }
}

static void MG_NAME(relax)(const mg *m, int level, int colour, double omega, int64_t y, int64_t z) {
    MG_CALL(m, MG_NAME(do_relax), m, &m->level[level], colour, (REAL)omega, y, z);
}

/* Adds weight times the residual of a row to `sum`. */
SEL_INLINE void MG_NAME(add_residual)(bool even, bool deep, const mg *m, const mg_level *v,
                                      REAL weight, int64_t y, int64_t z, REAL *sum) {
    const int64_t at = y * v->stride[1] + z * v->stride[2];
    const MG_NAME(row) r = MG_NAME(row_of)(m, v, y, z);
    const REAL *f = (const REAL *)v->f + at, *e = (const REAL *)v->e + at;
    const int n = (int)v->n[0];
    MG_INDEPENDENT
    for (int x = 0; x < n; x++) {
        REAL diagonal;
        const REAL around = MG_NAME(around)(even, deep, &r, e, x, &diagonal);
        sum[x] += diagonal > 0 ? weight * (f[x] + around - diagonal * e[x]) : 0;
    }
}

/* Restricts the residual to f of row (y, z) of the next level. */
static void MG_NAME(take_residual)(const mg *m, int level, int64_t y, int64_t z, void *scratch) {
    const mg_level *v = &m->level[level], *to = v + 1;
    const int64_t at = y * to->stride[1] + z * to->stride[2], n = v->n[0];
    const REAL *weight = v->table[0][MG_RESIDUAL];
    REAL *sum = (REAL *)scratch + 2, *f = (REAL *)to->f + at;
    for (int64_t x = -1; x < n + 2; x++) {
        sum[x] = 0;
    }
    for (int k = 0; k < 9; k++) {
        const int64_t j = (v->half[1] ? 2 * y : y) + k % 3 - 1;
        const int64_t i = (v->half[2] ? 2 * z : z) + k / 3 - 1;
        const REAL w = ((const REAL *)v->table[1][MG_RESIDUAL])[3 * y + k % 3] *
                       ((const REAL *)v->table[2][MG_RESIDUAL])[3 * z + k / 3];
        if (w != 0) {
            const int64_t row = v->sides[1] ? j : mg_image(j, v->n[1]);
            const int64_t plane = v->sides[2] ? i : mg_image(i, v->n[2]);
            MG_CALL(m, MG_NAME(add_residual), m, v, w, row, plane, sum);
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
    for (int64_t x = 0; x < to->n[0] && !m->box.even; x++) {
        f[x] = ((const REAL *)to->d + at)[x] > 0 ? f[x] : 0;
    }
}

/* Adds the interpolated corrections of the next level to a row. */
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
