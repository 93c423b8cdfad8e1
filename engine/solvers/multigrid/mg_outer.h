/* mg_outer.h -- rows of the finest level: solutions, with REAL the type of corrections; included by
 * mg_kernel.c.
 */

static void MG_NAME(residual)(const mg *m, mg_vector u, const double *F, int64_t y, int64_t z,
                              double *scratch, double sums[3]) {
    const int64_t n = m->box.n[0], from = y * u.stride[1] + z * u.stride[2];
    double *here = scratch + 1, *r = here + n + 1, *w = r + n;
    REAL *f = (REAL *)m->level[0].f + row_at(m, y, z);
    mg_kernel_product(m, u, y, z, F + from, here, r);
    weigh(m, y, z, w);
    MG_INDEPENDENT
    for (int64_t x = 0; x < n; x++) {
        r[x] = w[x] > 0 ? r[x] : 0;
        f[x] = (REAL)r[x];
    }
    sums[0] = mg_kernel_sum_of(w, r, r, n);
    sums[2] = m->box.even
                  ? mg_kernel_sum_of(w, here, NULL, n)
                  : mg_kernel_sum_of(w, here, m->part[0], n) * m->part[1][y] * m->part[2][z];
    const double *d = mg_jumps(&m->box) ? (const double *)m->level[0].d + row_at(m, y, z) : NULL;
    for (int64_t x = 0; x < n && d; x++) {
        here[x] *= d[x];
    }
    sums[1] = mg_kernel_sum_of(w, here, here, n);
}

static void MG_NAME(direct)(const mg *m, mg_vector p, double beta, int64_t y, int64_t z) {
    const REAL *e = (const REAL *)m->level[0].e + row_at(m, y, z);
    double *to = p.v + y * p.stride[1] + z * p.stride[2];
    for (int64_t x = 0; x < m->box.n[0]; x++) {
        to[x] = (double)e[x] + beta * to[x];
    }
}

static void MG_NAME(apply)(const mg *m, mg_vector p, double *q, int64_t y, int64_t z,
                           double *scratch, double sums[2]) {
    const int64_t n = m->box.n[0], from = y * p.stride[1] + z * p.stride[2];
    const REAL *f = (const REAL *)m->level[0].f + row_at(m, y, z);
    double *here = scratch + 1, *w = here + n + 1, *right = w + n;
    mg_kernel_product(m, p, y, z, NULL, here, q + from);
    weigh(m, y, z, w);
    for (int64_t x = 0; x < n; x++) {
        right[x] = (double)f[x];
    }
    sums[0] = mg_kernel_sum_of(w, here, q + from, n);
    sums[1] = mg_kernel_sum_of(w, here, right, n);
}

static double MG_NAME(dot)(const mg *m, const double *q, int64_t y, int64_t z, double *scratch) {
    const int64_t n = m->box.n[0];
    const REAL *e = (const REAL *)m->level[0].e + row_at(m, y, z);
    double *w = scratch;
    weigh(m, y, z, w);
    for (int64_t x = 0; x < n; x++) {
        w[x] *= (double)e[x];
    }
    return mg_kernel_sum_of(w, q, NULL, n);
}

static void MG_NAME(divide)(const mg *m, int64_t y, int64_t z) {
    const MG_NAME(row) r = MG_NAME(row_of)(m, &m->level[0], y, z);
    const REAL *f = (const REAL *)m->level[0].f + row_at(m, y, z);
    REAL *e = (REAL *)m->level[0].e + row_at(m, y, z);
    for (int64_t x = 0; x < m->box.n[0]; x++) {
        const REAL d = r.middle[x] + r.rest;
        e[x] = d > 0 ? f[x] / d : 0;
    }
}

static void MG_NAME(add)(const mg *m, mg_vector u, const double *p, double alpha, double shift,
                         double *to, int64_t y, int64_t z, double *scratch) {
    const int64_t from = y * u.stride[1] + z * u.stride[2];
    const REAL *e = (const REAL *)m->level[0].e + row_at(m, y, z);
    double *w = scratch;
    weigh(m, y, z, w);
    MG_INDEPENDENT
    for (int64_t x = 0; x < m->box.n[0]; x++) {
        const double change = alpha * (p ? p[from + x] : (double)e[x]) - shift;
        to[from + x] = u.v[from + x] + (w[x] > 0 ? change : 0);
    }
}
