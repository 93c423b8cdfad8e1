// laws_kernels.cu -- all laws that are due, evaluated and stored by one launch.
//
// A block belongs to one law, so that its threads run the same instructions. The registers of a
// block lie in shared memory: first those that are the same at all places, then those of each
// thread, the same register of all threads side by side.
#include "cuda/program.cuh"

#include "cuda/laws_kernels.h"

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

static __device__ void report(const cuda_laws_launch &l, const cuda_law &law, int64_t place,
                              int64_t step) {
    if (atomicCAS(l.claimed, 0, 1) == 0) {
        l.fault->number = law.number;
        l.fault->place = place;
        l.fault->step = step;
        __threadfence_system();
        l.fault->happened = 1;
    }
}

// The values of one place, user's units. False: only the host knows them, or they are no numbers.
static __device__ bool evaluate(const cuda_laws_launch &l, const cuda_law_quantity &q,
                                const double place[3], double *registers,
                                double value[CUDA_LAW_PARTS]) {
    bool sure = true;
    for (int c = 0; c < CUDA_LAW_PARTS; c++) {
        value[c] = c < q.components ? q.constant[c] : 0;
    }
    for (int k = 0; k < q.programs; k++) {
        double result[SEL_PACKED_RESULTS];
        sure = sel_packed_each(&l.packed, q.program[k], place, registers + q.room[k],
                               registers + q.fixed + threadIdx.x, blockDim.x, result) &&
               sure;
        for (int c = 0; c < CUDA_LAW_PARTS; c++) {
            if (q.slot[c] == k) {
                value[c] = q.result[c] == 0 ? result[0] : q.result[c] == 1 ? result[1] : result[2];
            }
        }
    }
    return sure && isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]);
}

static __device__ void store(const cuda_laws_launch &l, const cuda_law &law, int64_t row, int64_t i,
                             int64_t step, const double value[CUDA_LAW_PARTS]) {
    const int components = law.quantity.components;
    if (law.kind == CUDA_LAW_LINKS) {
        const lbm_direction &d = l.directions[law.incoming[i]];
        l.link_add[law.target[i]] =
            lbm_wall_adds(d.e, d.weight, components, value, 1, l.velocity_unit);
    } else if (law.kind == CUDA_LAW_OPENINGS) {
        lbm_open_set(components, value, 1, l.velocity_unit, l.pressure_unit,
                     l.open_value + LBM_OPEN_VALUES * law.target[i]);
    } else if (law.kind == CUDA_LAW_UNIFORM) {
        double *acceleration = l.acceleration + (l.acceleration_turns ? 3 * ((step + 1) & 1) : 0);
        for (int a = 0; a < 3; a++) {
            acceleration[a] = value[a] / l.acceleration_unit;
        }
    } else {
        for (int a = 0; a < l.grid.dims; a++) {
            const int64_t at = (a * law.rows + row) * l.pitch + i;
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
    if (law.kind == CUDA_LAW_FIELD) {
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
    double place[3], value[CUDA_LAW_PARTS] = {0, 0, 0};
    const cuda_law_quantity &q = law.quantity;
    if (q.given) {
        for (int c = 0; c < q.components; c++) {
            value[c] = q.given[c * law.width + i];
        }
    } else {
        find_place(l, law, row, i, place);
        if (!evaluate(l, q, place, registers, value)) {
            report(l, law, row * law.width + i, step);
            return;
        }
    }
    store(l, law, row, i, step, value);
}

__global__ void laws_kernel(const __grid_constant__ cuda_laws_launch l) {
    extern __shared__ double registers[];
    const int number = find_law(l, blockIdx.x);
    const cuda_law &law = l.laws[number];
    const int64_t step = cuda_now(l.clock), block = blockIdx.x - l.first_block[number];
    const double t = ((double)step + (law.kind == CUDA_LAW_LINKS ? 0.5 : 1)) * l.grid.dt;
    const int k = threadIdx.x;
    if (k < law.quantity.programs) {
        sel_packed_once(&l.packed, law.quantity.program[k], t, l.controls,
                        registers + law.quantity.room[k]);
    }
    __syncthreads();
    const int64_t row = block / law.blocks_per_row;
    int64_t i = (block - row * law.blocks_per_row) * blockDim.x * law.places_per_thread + k;
    for (int j = 0; j < law.places_per_thread && i < law.width; j++, i += blockDim.x) {
        do_place(l, law, row, i, step, registers);
    }
}

cudaError_t cuda_laws_run(const cuda_laws_launch *launch, cudaStream_t stream) {
    laws_kernel<<<(unsigned)launch->blocks, launch->threads, launch->shared_bytes, stream>>>(
        *launch);
    return cudaGetLastError();
}
