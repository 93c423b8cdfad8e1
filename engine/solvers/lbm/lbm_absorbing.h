/* lbm_absorbing.h -- wet faces that let sound and vortices out: law.pressure and law.velocity with
 * absorbing = true, law.far_field.
 *
 * Re-includable behind lbm_closure.h, with the same macros. Across a face with the speed v = -u.n
 * out of the domain go two sound waves, with c the speed of sound and drho the deviation of the
 * density:
 *
 *   J = v + c drho    leaves: it is in the populations that arrive
 *   I = v - c drho    enters: nothing outside says what it is
 *
 * Were I kept as it is, no sound would come back, and pressure and velocity would drift. So it is
 * changed a little towards what the law wants (_w), K c (drho - drho_w) where it holds the pressure
 * and -K (v - v_w) where it holds the velocity. What holds the velocity holds it alone, not I,
 * whose other part would leave v off by c drho wherever the pressure falls along a channel.
 * A vortex changes v as it leaves, and sound does, too: of the difference of v from the next cell
 * inwards (_in) the part of the sound that leaves is -(J' - J) / 2 (c + V), with V = v limited to
 * [0, 1], and only the rest convects out:
 *
 *   I' = I - V [v - v_in + (J' - J) / (2 (c + V))] + K c (drho - drho_w) - K (v - v_w)
 *
 * The velocity along the face (_t) convects out and along the face, by upwind derivatives:
 *
 *   u_t' = u_t - V (u_t - u_t,in) - u_t.grad_t u_t - W (u_t - u_t,w) - K (u_t - u_t,w)
 *
 * with W = -v limited to [0, 1]. A far field has the terms with K of both, others one of them;
 * where the velocity alone is held, u_t is what is given. Pressure or velocity come to what is
 * wanted by a factor e in 2 / K steps.
 *
 * The bracket is what the divergence along the face, -div_t u_t, is for an incompressible flow;
 * with that in its place trt and bgk feed a mode along the face. Where the velocity is held, as
 * along the sides of a stream, u_t.grad_t I and u_t.grad_t J are subtracted, too. At outlets they
 * are not: their sum would move the mean pressure whenever a vortex leaves. Nor does the pressure
 * along the face drive u_t: then the velocity of an inlet would be less exact.
 *
 * Where such faces meet, at an edge, what arrives does not tell J, which then changes by
 *
 *   J' = J - (v + c)(J - J_in)
 *
 * and density and velocity change by the sum over the normals, with t along the edge only.
 *
 * Poinsot, Lele, J. Comput. Phys. 101 (1992) 104; Wissocq, Gourdain, Malaspinas, Eyssartier, J.
 * Comput. Phys. 331 (2017) 1 (CBC-2D).
 */

#define R(literal) ((REAL)(literal))

/* The cells beside a cell, below and above along each axis; where none is fluid, the cell itself.
 */
typedef struct LBM_NAME(lbm_beside) {
    LBM_NAME(lbm_cell) cell[LBM_DIMS][2];
} LBM_NAME(lbm_beside);

/* v + c drho; v - c drho with -c for `sound`. */
SEL_INLINE REAL LBM_NAME(lbm_wave)(const LBM_NAME(lbm_cell) * cell, int axis, int normal,
                                   REAL sound) {
    return sound * cell->drho - (REAL)normal * cell->u[axis];
}

/* The cell on absorbing faces. Of the start of the step: here, and the cells beside it. wanted: by
 * the laws; relax: K of the faces across each axis; bits of density, velocity: whether the law of
 * the face across this axis holds it. Populations before collision have the velocity u + shift. */
SEL_INLINE LBM_NAME(lbm_cell)
    LBM_NAME(lbm_absorbing_cell)(const REAL g[LBM_Q], const int n[LBM_DIMS],
                                 const LBM_NAME(lbm_cell) * here,
                                 const LBM_NAME(lbm_beside) * beside,
                                 const LBM_NAME(lbm_cell) * wanted, const float *relax,
                                 unsigned density, unsigned velocity, const REAL shift[LBM_DIMS]) {
    const REAL c = R(0.57735026918962576);
    LBM_NAME(lbm_cell) to = *here;
    REAL wave = R(0), wet = R(0);
    for (int a = 0; a < LBM_DIMS; a++) {
        wet += n[a] != 0 ? R(1) : R(0);
        to.u[a] += shift[a];
    }
    const bool edge = wet > R(1);
    for (int k = 0; k < LBM_DIMS; k++) {
        if (n[k] == 0) {
            continue;
        }
        const LBM_NAME(lbm_cell) *inward = &beside->cell[k][n[k] > 0];
        const REAL v = -(REAL)n[k] * here->u[k], K = (REAL)relax[k];
        const REAL out = v < R(0) ? R(0) : v > R(1) ? R(1) : v;
        const REAL in = v > R(0) ? R(0) : v < R(-1) ? R(1) : -v;
        const bool holds = velocity >> k & 1u, alone = holds && !(density >> k & 1u) && !edge;
        const REAL I = LBM_NAME(lbm_wave)(here, k, n[k], -c);
        const REAL J = LBM_NAME(lbm_wave)(here, k, n[k], c);
        REAL leaves = (v + c) * (LBM_NAME(lbm_wave)(inward, k, n[k], c) - J);
        REAL enters = density >> k & 1u ? K * c * (here->drho - wanted->drho) : R(0);
        if (!edge) {
            const REAL half = (REAL)n[k] * shift[k];
            const LBM_NAME(lbm_cell) first = LBM_NAME(lbm_wave_cell)(g, n, I - half, here->u);
            leaves = LBM_NAME(lbm_wave)(&first, k, n[k], c) + half - J;
        }
        enters -= out * (v + (REAL)n[k] * inward->u[k] + leaves * R(0.5) / (c + out));
        enters -= holds ? K * (v + (REAL)n[k] * wanted->u[k]) : R(0);
        for (int t = 0; t < LBM_DIMS; t++) {
            const REAL off = here->u[t] - wanted->u[t];
            if (t == k) {
                continue;
            }
            to.u[t] -= alone ? off : out * (here->u[t] - inward->u[t]) + in * off;
            to.u[t] -= holds && !alone ? K * off : R(0);
            if (n[t] != 0) {
                continue;
            }
            const LBM_NAME(lbm_cell) *from = &beside->cell[t][here->u[t] < R(0)];
            const REAL speed = here->u[t] < R(0) ? -here->u[t] : here->u[t];
            if (holds) {
                enters -= speed * (I - LBM_NAME(lbm_wave)(from, k, n[k], -c));
                leaves -= speed * (J - LBM_NAME(lbm_wave)(from, k, n[k], c));
            }
            for (int a = 0; a < LBM_DIMS; a++) {
                if (a != k && n[a] == 0 && !alone) {
                    to.u[a] -= speed / wet * (here->u[a] - from->u[a]);
                }
            }
        }
        wave = I + enters - (REAL)n[k] * shift[k];
        if (edge) {
            to.u[k] -= (REAL)n[k] * R(0.5) * (leaves + enters);
            to.drho += (leaves - enters) * (R(0.5) / c);
        }
    }
    return edge ? to : LBM_NAME(lbm_wave_cell)(g, n, wave, to.u);
}

#undef R
