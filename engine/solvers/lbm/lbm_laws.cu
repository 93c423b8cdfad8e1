// lbm_laws.cu -- all laws that are due, evaluated and stored by one launch.
//
// A block belongs to one law, so that its threads run the same instructions. The registers of a
// block lie in shared memory: first those that are the same at all places, then those of each
// thread, the same register of all threads side by side.
#include "cuda/terms.cuh"

#define LBM_LAW_INLINE static __device__ inline
#include "engine/solvers/lbm/lbm_law.h"

#include "engine/solvers/lbm/lbm_laws_cuda.h"

// The law whose blocks hold this one: the last whose first block is not after it.
static __device__ int find_law(const cuda_laws_launch &l, int64_t block) {
    int low = 0, high = l.count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (l.first_block[middle] <= block) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static __device__ void store(const cuda_laws_launch &l, const cuda_law &law, int64_t row, int64_t i,
                             int64_t step, const double value[CUDA_TERM_PARTS]) {
    const int components = law.term.components;
    if (law.goal == LBM_TO_LINKS) {
        const lbm_direction &d = l.directions[law.incoming[i]];
        l.link_add[step % CUDA_STEPS * l.link_stride + law.target[i]] =
            lbm_wall_adds(d.e, d.weight, components, value, 1, l.velocity_unit);
    } else if (law.goal == LBM_TO_VELOCITY || law.goal == LBM_TO_DENSITY) {
        lbm_open_set(law.goal, components, value, 1, l.velocity_unit, l.pressure_unit,
                     l.open_value + step % CUDA_STEPS * l.open_stride +
                         LBM_OPEN_VALUES * law.target[i]);
    } else if (law.goal == LBM_TO_FORCE) {
        double *acceleration =
            l.acceleration + (l.acceleration_turns ? 3 * ((step + 1) % CUDA_TURNS) : 0);
        for (int a = 0; a < 3; a++) {
            acceleration[a] = value[a] / l.acceleration_unit;
        }
    } else {
        const int64_t first = lbm_vicinity_row(&l.vicinity, row);
        for (int a = 0; a < l.grid.dims; a++) {
            const int64_t at = a * l.acceleration_component + first + i;
            const double v = (a == 0   ? value[0]
                              : a == 1 ? value[1]
                                       : value[2]) /
                             l.acceleration_unit;
            if (l.single) {
                ((float *)l.acceleration_field)[at] = (float)v;
            } else {
                ((double *)l.acceleration_field)[at] = v;
            }
        }
    }
}

static __device__ void find_place(const cuda_laws_launch &l, const cuda_law &law, int64_t row,
                                  int64_t i, double place[3]) {
    if (law.goal == LBM_TO_FIELD) {
        place[0] = sel_centre(&l.grid, 0, (double)i);
        place[1] = sel_centre(&l.grid, 1, (double)(row % l.grid.n[1]));
        place[2] = l.grid.dims == 3 ? sel_centre(&l.grid, 2, (double)(row / l.grid.n[1])) : 0;
    } else {
        place[0] = law.x ? law.x[i] : 0;
        place[1] = law.y ? law.y[i] : 0;
        place[2] = law.z ? law.z[i] : 0;
    }
}

static __device__ void do_place(const cuda_laws_launch &l, const cuda_law &law, int64_t row,
                                int64_t i, int64_t step, double *registers) {
    double place[3], value[CUDA_TERM_PARTS] = {0, 0, 0};
    if (law.given) {
        for (int c = 0; c < law.term.components; c++) {
            value[c] = law.given[c * law.width + i];
        }
    } else {
        find_place(l, law, row, i, place);
        if (!cuda_term_evaluate(l.terms, law.term, place, registers, value)) {
            cuda_term_report(l.terms, law.number, row * law.width + i, step);
            return;
        }
    }
    store(l, law, row, i, step, value);
}

__global__ void laws_kernel(const __grid_constant__ cuda_laws_launch l) {
    extern __shared__ double registers[];
    const int64_t step = cuda_now(l.clock) + blockIdx.y;
    if (l.halted && *l.halted <= step) {
        return;
    }
    const int number = find_law(l, blockIdx.x);
    const cuda_law &law = l.laws[number];
    const int64_t block = blockIdx.x - l.first_block[number];
    const double t = ((double)step + (law.goal == LBM_TO_LINKS ? 0.5 : 1)) * l.grid.dt;
    const int k = threadIdx.x;
    cuda_term_begin(l.terms, law.term, t, registers);
    const int64_t listed = block / law.blocks_per_row;
    const int64_t row = law.goal == LBM_TO_FIELD ? lbm_vicinity_listed(&l.vicinity, listed) : 0;
    int64_t i = (block - listed * law.blocks_per_row) * blockDim.x * law.places_per_thread + k;
    for (int j = 0; j < law.places_per_thread && i < law.width; j++, i += blockDim.x) {
        do_place(l, law, row, i, step, registers);
    }
}

cudaError_t cuda_laws_run(const cuda_laws_launch *launch, cudaStream_t stream) {
    const dim3 blocks((unsigned)launch->blocks, (unsigned)launch->steps);
    laws_kernel<<<blocks, launch->threads, launch->shared_bytes, stream>>>(*launch);
    return cudaGetLastError();
}
