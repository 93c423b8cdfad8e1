// lbm_fields.cu -- fields of the flow for outputs, populations and strain of step 0, and sums of
// what links carried.
//
// As engine/solvers/lbm/lbm_cpu_fields.c it computes moments and gradients of a cell, in f64;
// engine/solvers/lbm/lbm_field.h derives fields from them.
#include "engine/solvers/lbm/lbm_strain.cuh"
#include "cuda/query.cuh"

enum { THREADS = LOOK_THREADS, ROWS_PER_BLOCK = LOOK_ROWS };

// Blocks for a thread per cell of a block of the grid, or for several cells per thread.
static unsigned blocks_of(const lbm_gpu_layout &l) {
    const int64_t blocks = ((int64_t)l.nx * (l.end_row - l.first_row) + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 20 ? blocks : 1 << 20);
}

// ---- fields ----

// T: the stored populations; D: the same lattice in f64.
template <class T, class D> struct lbm_look {
    typedef typename T::real real;
    typedef lbm_gpu_view view;
    typedef real last;
    static constexpr int components = D::dims;
    static constexpr bool whole = false, counts = false;

    static __host__ __device__ void extent(const lbm_gpu_view &v, uint32_t n[3]) {
        n[0] = v.last.layout.nx;
        n[1] = v.last.layout.ny;
        n[2] = v.last.layout.nz;
    }

    static __device__ __forceinline__ bool is_solid(const lbm_gpu_view &v, const uint32_t at[3]) {
        return v.last.fields.grid.solid[cuda_solid_at(v.last.fields.grid, at)] != 0;
    }

    // Row y of a plane as the block has it, its halo rows included.
    static __device__ __forceinline__ uint32_t row_of(const lbm_gpu_layout &l, uint32_t y) {
        const uint32_t row = y + l.halo - l.low;
        return !l.halo || row < l.rows + 2 * l.halo ? row : y < l.low ? row + l.ny : row - l.ny;
    }

    // The index of a cell of the grid, also of one that the rank does not have.
    static __device__ __forceinline__ int64_t index_of(const lbm_gpu_layout &l, uint32_t x,
                                                       uint32_t y, uint32_t z) {
        const int64_t row = row_of(l, y), base = l.base;
        return D::dims == 3 ? (z - base) * l.slice + row * l.pitch + x : (row - base) * l.pitch + x;
    }

    // Cell k of those of the block, which count from its rank's first plane on.
    static __device__ __forceinline__ void place_of(const lbm_gpu_layout &l, int64_t k,
                                                    uint32_t at[3]) {
        const uint32_t z = (uint32_t)(k / l.nx / l.rows);
        at[0] = (uint32_t)(k % l.nx);
        at[1] = (uint32_t)(k / l.nx % l.rows) + (D::dims == 3 ? l.low : l.base);
        at[2] = D::dims == 3 ? z + l.base : z;
    }

    // The acceleration of the last collision.
    static __device__ __forceinline__ void acceleration(const lbm_gpu_view &v, uint32_t x,
                                                        uint32_t y, uint32_t z, double a[D::dims]) {
        const real *field = NULL;
        if (v.last.acceleration_field) {
            const int64_t index = index_of(v.last.layout, x, y, z);
            field = (const real *)cuda_part(v.acceleration, index) + index;
        }
        const typename T::lbm_rates rates = T::rates_at(v.last, field);
#pragma unroll
        for (int k = 0; k < D::dims; k++) {
            a[k] = (double)rates.a[k];
        }
    }

    // Density deviation and velocity: the momentum of stored populations is rho u + F/2.
    static __device__ __forceinline__ double velocity(const lbm_gpu_view &v, uint32_t x, uint32_t y,
                                                      uint32_t z, double u[D::dims]) {
        const int64_t index = index_of(v.last.layout, x, y, z);
        const int64_t plane = v.last.layout.plane;
        const real *f = (const real *)cuda_part(v.now, index) + index;
        typename D::lbm_rates rates;
        double g[D::q], drho;
        acceleration(v, x, y, z, rates.a);
        if (v.last.moments) {
            drho = (double)f[0];
#pragma unroll
            for (int k = 0; k < D::dims; k++) {
                u[k] = (double)f[(1 + k) * plane] / (1 + drho) - 0.5 * rates.a[k];
            }
            return drho;
        }
#pragma unroll
        for (int i = 0; i < D::q; i++) {
            g[i] = (double)f[i * plane];
        }
#pragma unroll
        for (int k = 0; k < D::dims; k++) {
            rates.a[k] = -rates.a[k];
        }
        D::lbm_moments(g, &rates, true, &drho, u);
        return drho;
    }

    // d[a][b] = d u_a / d x_b: central differences, one-sided beside solids and faces that are not
    // periodic. `at(x, y, z, u)` gives the velocity of a free cell.
    template <class At>
    static __device__ void gradient(const lbm_gpu_view &v, const uint32_t at[3],
                                    const At &velocity_at, double d[3][3]) {
        const lbm_gpu_layout &l = v.last.layout;
        const uint32_t n[3] = {l.nx, l.ny, l.nz};
        const int64_t apart[3] = {1, l.nx, v.last.fields.grid.slice};
        const uint8_t *solid = v.last.fields.grid.solid + cuda_solid_at(v.last.fields.grid, at);
        double here[3] = {0, 0, 0};
        velocity_at(at[0], at[1], at[2], here);
        for (int b = 0; b < 3; b++) {
            double value[2][3] = {{0, 0, 0}, {0, 0, 0}};
            bool known[2] = {false, false};
            for (int side = 0; side < 2 && b < D::dims; side++) {
                uint32_t to[3] = {at[0], at[1], at[2]};
                const bool ends = side == 0 ? at[b] == 0 : at[b] == n[b] - 1;
                to[b] = !ends ? at[b] + 2 * side - 1 : side == 0 ? n[b] - 1 : 0;
                // Along x there are no images.
                const int64_t beside = b == 0 ? (int64_t)to[0] - at[0] : (2 * side - 1) * apart[b];
                known[side] = (!ends || v.periodic[b]) && !solid[beside];
                if (known[side]) {
                    velocity_at(to[0], to[1], to[2], value[side]);
                }
            }
            for (int a = 0; a < 3; a++) {
                d[a][b] = known[0] && known[1] ? 0.5 * (value[1][a] - value[0][a])
                          : known[1]           ? value[1][a] - here[a]
                          : known[0]           ? here[a] - value[0][a]
                                               : 0;
            }
        }
    }

    static __device__ void gradient_now(const lbm_gpu_view &v, const uint32_t at[3],
                                        double d[3][3]) {
        gradient(
            v, at, [&](uint32_t x, uint32_t y, uint32_t z, double *u) { velocity(v, x, y, z, u); },
            d);
    }

    // Strain and viscosities from differences of the velocity.
    static __device__ lbm_viscosity initial_strain(const lbm_gpu_view &v, const uint32_t at[3],
                                                   double s[D::parts]) {
        double d[3][3], u[D::dims];
        gradient_now(v, at, d);
        lbm_gradient_strain(d, D::dims, s);
        const double rho = 1 + velocity(v, at[0], at[1], at[2], u);
        const double tau = v.last.tau + 3 * lbm_eddy_viscosity(v.last.eddy, d);
        return lbm_viscosity_of(rho, tau, D::lbm_is_recursive(v.last.collision));
    }

    // Of a field of walls; 0 where the cell is no boundary cell.
    static __device__ int wall_field(const lbm_gpu_view &v, int which, const uint32_t at[3],
                                     double out[CUDA_PARTS]) {
        const lbm_gpu_boundary &b = v.last.boundary;
        const lbm_gpu_fields &of = v.last.fields;
        const uint32_t index = (uint32_t)index_of(v.last.layout, at[0], at[1], at[2]);
        const uint32_t bit = 1u << index % CUDA_WARP;
        const uint32_t bits = b.cell_count ? b.words[index / CUDA_WARP] : 0;
        double u[D::dims];
        if (!(bits & bit)) {
            for (int a = 0; a < D::dims; a++) {
                out[a] = 0;
            }
            return which == LBM_WALL_SHEAR || which == LBM_WALL_NORMAL ? D::dims : 1;
        }
        const lbm_wall wall = of.walls[b.before[index / CUDA_WARP] + __popc(bits & (bit - 1))];
        const double drho = which == LBM_Y_PLUS ? velocity(v, at[0], at[1], at[2], u) : 0;
        return lbm_wall_field(which, &wall, of.strain[LBM_STRESS - LBM_STRAIN_RATE],
                              of.strain_component, drho, v.nu, of.dx, D::dims, &of.units, out);
    }

    // The components of a field at a cell, user's units; returns their number.
    static __device__ int field(const lbm_gpu_view &v, int which, const uint32_t at[3],
                                double out[CUDA_PARTS]) {
        if (which == LBM_VORTICITY || which == LBM_Q_CRITERION) {
            double d[3][3];
            gradient_now(v, at, d);
            return lbm_rotation_field(which, d, D::dims, &v.last.fields.units, out);
        }
        if (lbm_is_of_strain(which)) {
            const int count = which == LBM_STRESS ? D::parts : 1;
            const lbm_gpu_fields &of = v.last.fields;
            const double *from = of.strain[which - LBM_STRAIN_RATE] + lbm_gpu_strain_at(of, at);
            for (int c = 0; c < count; c++) {
                out[c] = from[c * of.strain_component];
            }
            return count;
        }
        if (lbm_is_of_walls(which)) {
            return wall_field(v, which, at, out);
        }
        double u[D::dims];
        const double drho = velocity(v, at[0], at[1], at[2], u);
        return lbm_moment_field(which, drho, u, 1, D::dims, &v.last.fields.units, out);
    }

    // The velocity; the minimum of the density deviation and the maximum of the speed squared are
    // monitored. Lattice units.
    static __device__ double main(const lbm_gpu_view &v, const uint32_t at[3], double u[D::dims],
                                  double *small) {
        double square = 0;
        *small = velocity(v, at[0], at[1], at[2], u);
#pragma unroll
        for (int a = 0; a < D::dims; a++) {
            square += u[a] * u[a];
        }
        return square;
    }

    static __device__ __forceinline__ real last_of(const lbm_gpu_view &, double u) {
        return (real)u;
    }

    static __device__ __forceinline__ double value_of(const lbm_gpu_view &, real kept) {
        return (double)kept;
    }

    static __device__ double amount(const lbm_gpu_view &v, const uint32_t at[3]) {
        double u[D::dims];
        return velocity(v, at[0], at[1], at[2], u);
    }
};

// Calls CALL<stored traits, f64 traits>(...) for the lattice and precision of a step.
#define LBM_DISPATCH(step, CALL, ...)                                                \
    ((step).dims == 2    ? (step).bytes == 4 ? CALL<d2q9_f32, d2q9_f64>(__VA_ARGS__) \
                                             : CALL<d2q9_f64, d2q9_f64>(__VA_ARGS__) \
        : (step).bytes == 4 ? CALL<d3q19_f32, d3q19_f64>(__VA_ARGS__)                \
                         : CALL<d3q19_f64, d3q19_f64>(__VA_ARGS__))

template <class T, class D> static const cuda_look *look_at() {
    return look_of<lbm_look<T, D>>();
}

extern "C" const cuda_look *lbm_gpu_look(const lbm_gpu_step *step) {
    return LBM_DISPATCH(*step, look_at);
}

// ---- the start ----

template <class T, class D>
__global__ void __launch_bounds__(THREADS)
    start_kernel(const __grid_constant__ lbm_gpu_view v, const __grid_constant__ lbm_gpu_given from,
                 typename T::real *to) {
    typedef lbm_look<T, D> look;
    const lbm_gpu_layout &l = v.last.layout;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    const int64_t first = (int64_t)l.first_row * l.nx, end = (int64_t)l.end_row * l.nx;
    for (int64_t k = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < end; k += step) {
        uint32_t at[3];
        look::place_of(l, k, at);
        const uint32_t index = (uint32_t)look::index_of(l, at[0], at[1], at[2]);
        const int components = v.last.moments ? (int)D::moments : (int)D::q;
        double g[D::q];
        for (int i = 0; i < D::q; i++) {
            g[i] = 0;
        }
        if (!look::is_solid(v, at)) {
            double u[D::dims] = {0}, d[3][3] = {{0}}, strain[D::parts], a[D::dims], drho = 0;
            if (from.values.count) {
                auto given = [&](uint32_t x, uint32_t y, uint32_t z, double *to_u) {
                    const uint32_t rows = l.rows + 2 * l.halo;
                    const int64_t cell = ((int64_t)z * rows + look::row_of(l, y)) * l.nx + x;
                    const double *values = (const double *)cuda_part(from.values, cell) + cell;
                    for (int c = 0; c < D::dims; c++) {
                        to_u[c] = values[(c + 1) * from.apart];
                    }
                    return *values;
                };
                drho = given(at[0], at[1], at[2], u);
                look::gradient(v, at, given, d);
            }
            lbm_gradient_strain(d, D::dims, strain);
            look::acceleration(v, at[0], at[1], at[2], a);
            const double eddy_viscosity = lbm_eddy_viscosity(v.last.eddy, d);
            D::lbm_start_stored(drho, u, strain, v.last.tau + 3 * eddy_viscosity, a,
                                v.last.collision, v.last.moments, g);
        }
        for (int i = 0; i < components; i++) {
            to[i * l.plane + index] = (typename T::real)g[i];
        }
    }
}

template <class T, class D>
static cudaError_t start(const lbm_gpu_view *v, const lbm_gpu_given *given, void *to,
                         cudaStream_t stream) {
    const lbm_gpu_given none = {};
    start_kernel<T, D><<<blocks_of(v->last.layout), THREADS, 0, stream>>>(*v, given ? *given : none,
                                                                          (typename T::real *)to);
    return cudaGetLastError();
}

extern "C" cudaError_t lbm_gpu_start(const lbm_gpu_view *view, const lbm_gpu_given *given, void *to,
                                     cudaStream_t stream) {
    return LBM_DISPATCH(view->last, start, view, given, to, stream);
}

// ---- the strain of step 0 ----

template <class T, class D>
__global__ void __launch_bounds__(THREADS)
    initial_strain_kernel(const __grid_constant__ lbm_gpu_view v) {
    typedef lbm_look<T, D> look;
    const lbm_gpu_layout &l = v.last.layout;
    const lbm_gpu_fields &to = v.last.fields;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    const int64_t first = (int64_t)l.first_row * l.nx, end = (int64_t)l.end_row * l.nx;
    for (int64_t k = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < end; k += step) {
        uint32_t at[3];
        double s[D::parts];
        look::place_of(l, k, at);
        if (!look::is_solid(v, at)) {
            double rate[CUDA_PARTS], stress[CUDA_PARTS], dissipation[CUDA_PARTS];
            const lbm_viscosity viscosity = look::initial_strain(v, at, s);
            lbm_strain_field(LBM_STRAIN_RATE, s, viscosity, D::dims, &to.units, rate);
            lbm_strain_field(LBM_STRESS, s, viscosity, D::dims, &to.units, stress);
            lbm_strain_field(LBM_DISSIPATION, s, viscosity, D::dims, &to.units, dissipation);
            lbm_gpu_put_strain(to, at, D::dims, rate[0], stress, dissipation[0]);
        }
    }
}

template <class T, class D>
static cudaError_t find_initial_strain(const lbm_gpu_view *v, cudaStream_t stream) {
    initial_strain_kernel<T, D><<<blocks_of(v->last.layout), THREADS, 0, stream>>>(*v);
    return cudaGetLastError();
}

extern "C" cudaError_t lbm_gpu_initial_strain(const lbm_gpu_view *view, cudaStream_t stream) {
    return LBM_DISPATCH(view->last, find_initial_strain, view, stream);
}

// ---- sums over links ----
//
// A warp adds up the links of a row, and rows are joined by a fixed tree, as in cuda/query.cuh: the
// result does not depend on the ranks.

static __device__ void join(lbm_carried &a, const lbm_carried &b) {
    for (int k = 0; k < 3; k++) {
        a.force[k] += b.force[k];
        a.torque[k] += b.torque[k];
        a.change[k] += b.change[k];
    }
    a.size += b.size;
    a.mass += b.mass;
}

static __device__ void clear(lbm_carried &a) {
    a = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0};
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    links_kernel(const __grid_constant__ lbm_gpu_step s, int region, const double *velocity,
                 double cx, double cy, double cz, lbm_carried *partials,
                 const __grid_constant__ sel_rows own) {
    const int64_t row = row_of_own(own);
    if (row < 0) {
        return;
    }
    const double centre[3] = {cx, cy, cz};
    const uint32_t *ends = s.boundary.row_cells + row_of_warp();
    lbm_carried mine;
    clear(mine);
    for (uint32_t c = ends[0] + threadIdx.x % CUDA_WARP; c < ends[1]; c += CUDA_WARP) {
        const lbm_boundary_cell cell = s.boundary.cells[c];
        const double at[3] = {(double)cell.x, (double)(cell.row % s.layout.ny),
                              (double)(cell.row / s.layout.ny)};
        T::each_link(s.boundary, cell, region, velocity, [&](const int e[3], const lbm_link &link) {
            lbm_carry(&mine, e, &link, at, centre);
        });
    }
    join_lanes(mine);
    if (threadIdx.x % CUDA_WARP == 0) {
        partials[row] = mine;
    }
}

template <class T, class D>
static cudaError_t carried(const lbm_gpu_step *s, int region, const double *velocity,
                           const double centre[3], const cuda_rows *rows, cudaStream_t stream) {
    if (rows->own.count > 0) {
        links_kernel<T><<<row_blocks(rows->own.count), THREADS, 0, stream>>>(
            *s, region, velocity, centre[0], centre[1], centre[2], partials_of<lbm_carried>(rows),
            rows->own);
    }
    return join_rows<lbm_carried>(rows, stream);
}

extern "C" cudaError_t lbm_gpu_links(const lbm_gpu_step *step, int region, const double *velocity,
                                     const double centre[3], const cuda_rows *rows,
                                     cudaStream_t stream) {
    return LBM_DISPATCH(*step, carried, step, region, velocity, centre, rows, stream);
}

static __device__ void join(lbm_gpu_flows &a, const lbm_gpu_flows &b) {
    for (int r = 0; r < LBM_GPU_FLOWS; r++) {
        a.rate[r] += b.rate[r];
    }
}

static __device__ void clear(lbm_gpu_flows &a) {
    for (int r = 0; r < LBM_GPU_FLOWS; r++) {
        a.rate[r] = 0;
    }
}

static __device__ void share_flow(const lbm_boundary_cell &cell, double *link_flow) {
    double *flow = link_flow + cell.first_link, *second = flow + __popc(cell.links);
    for (uint32_t left = cell.shared ? cell.links : 0; left; left &= left - 1, flow++) {
        if (cell.shared & left & (~left + 1)) {
            *flow *= 0.5;
            *second++ = *flow;
        }
    }
}

// Each lane adds up by region the flow of every 32nd link of a row; then lane r the sums of region
// `first + r`:
//
//     room[warp]    lane 0    1   ...  31
//     region first       +    +         +   --> rate[0]
//     region first + 1   +    +         +   --> rate[1]
//
// One column more keeps lanes out of each other's banks. `shares`: before, the second entries of
// shared links get half of what the first have.
__global__ void __launch_bounds__(THREADS)
    flows_kernel(const __grid_constant__ lbm_gpu_boundary b, int first, bool shares,
                 lbm_gpu_flows *partials, const __grid_constant__ sel_rows own) {
    __shared__ double room[ROWS_PER_BLOCK][LBM_GPU_FLOWS][CUDA_WARP + 1];
    const int64_t row = row_of_own(own);
    if (row < 0) {
        return;
    }
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    double(*const sums)[CUDA_WARP + 1] = room[threadIdx.x / CUDA_WARP];
    const uint32_t *ends = b.row_cells + row_of_warp();
    for (int r = 0; r < LBM_GPU_FLOWS; r++) {
        sums[r][lane] = 0;
    }
    for (uint32_t c = ends[0] + lane; shares && c < ends[1]; c += CUDA_WARP) {
        share_flow(b.cells[c], b.link_flow);
    }
    __syncwarp();
    if (ends[0] < ends[1]) {
        const bool last = ends[1] == b.cell_count;
        const int64_t end = last ? b.link_count : b.cells[ends[1]].first_link;
        for (int64_t k = b.cells[ends[0]].first_link + lane; k < end; k += CUDA_WARP) {
            const int r = (int)b.link_region[k] - first;
            if (r >= 0 && r < LBM_GPU_FLOWS) {
                sums[r][lane] += b.link_flow[k];
                b.link_flow[k] = 0;
            }
        }
    }
    __syncwarp();
    if (lane < LBM_GPU_FLOWS) {
        double sum = 0;
        for (int k = 0; k < CUDA_WARP; k++) {
            sum += sums[lane][k];
        }
        partials[row].rate[lane] = sum;
    }
}

extern "C" cudaError_t lbm_gpu_flow(const lbm_gpu_boundary *boundary, int first,
                                    const cuda_rows *rows, cudaStream_t stream) {
    if (rows->own.count > 0) {
        flows_kernel<<<row_blocks(rows->own.count), THREADS, 0, stream>>>(
            *boundary, first, first == 1, partials_of<lbm_gpu_flows>(rows), rows->own);
    }
    return join_rows<lbm_gpu_flows>(rows, stream);
}
