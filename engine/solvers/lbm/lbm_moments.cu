// lbm_moments.cu -- one time step of a flow whose cells are stored as moments: rebuild populations,
// stream, add up moments, collide, store. All axes periodic, all cells fluid.
//
// A warp has a strip of columns along x, some neighbouring ones to a lane, and marches along the
// slowest axis. Populations exist only on their way from one lane to another:
//
//     z+1   . . . . . . . .   up     what the populations that move up have brought so far
//     z     o o o o o o o o   now    rebuilt here from the moments that were loaded for this plane
//     z-1   * * * * * * * *   open   lacks what moves down; then it collides and is stored
//           lane 0 ... 31
//
// At plane z each lane rebuilds the populations of its cells. Populations that move along x go to
// the neighbouring column, which is in the same lane or one shuffle away. The two cells beside the
// ends of the strip are rebuilt by all lanes together: each lane loads one of their moments, and
// shuffles hand it to the others. In 3-D a thread block has several strips, neighbours along y. One
// more strip at either side, the halo of the block, is loaded and not stored:
//
//     y     halo   - - - - - - - -        populations that move along y
//           strip  o o o o o o o o   |    pass through shared memory (two buffers,
//             :                      v    one barrier per plane),
//           strip  o o o o o o o o   ^    shifted along x before
//           halo   - - - - - - - -   |
//
// The arriving populations are added to three sets of moments at once: those of plane z-1 are then
// complete. The moments of the next plane are loaded before the barrier. A thread block starts one
// plane early and ends one plane late.
//
// The hybrid operator takes differences of the velocities around the cell, which stay in shared
// memory for three planes.
//
// A strip that the grid's end cuts loads single cells; the place behind the last cell has a copy of
// the first, so that columns and shuffles are those of other strips. All strips, halos too, rebuild
// by the same instructions: so a cell gets the same bits wherever thread blocks and ranks begin.
#include "engine/solvers/lbm/lbm_march.cuh"

// Stores the strain of a cell, but for boundary cells, whose moments are not complete here. Copies,
// since the originals would lie in memory all the time.
template <class T>
static __device__ __forceinline__ void
march_keep_strain(const lbm_gpu_step &s, uint32_t index, uint32_t x, uint32_t y, uint32_t z,
                  const moments_of<T> &in, const real_of<T> *strain) {
    const bool listed = s.boundary.cell_count > 0 &&
                        (s.boundary.words[index / CUDA_WARP] >> index % CUDA_WARP & 1u);
    if (!listed) {
        typename in_f64<T::dims>::type::lbm_cell_moments copy;
        real_of<T> differences[T::parts];
        copy.drho = (double)in.drho;
        for (int a = 0; a < T::dims; a++) {
            copy.j[a] = (double)in.j[a];
        }
        for (int k = 0; k < T::parts; k++) {
            copy.p[k] = (double)in.p[k];
            differences[k] = strain ? strain[k] : (real_of<T>)0;
        }
        lbm_gpu_keep_strain<T>(s, index, x, y, z, &copy, differences);
    }
}

struct moments_step {
    lbm_gpu_step step;
    lbm_gpu_tiles tiles;
};

template <class T, int ROWS, int COLLISION, bool PLAIN, bool OBSERVED>
__global__ void __launch_bounds__(shape<T, ROWS>::threads, shape<T, ROWS>::at_once)
    march_kernel(const __grid_constant__ moments_step a) {
    typedef shape<T, ROWS> S;
    typedef real_of<T> R;
    typedef level<T::dims, T> L;
    enum { C = S::columns, HYBRID = COLLISION == LBM_HYBRID };
    extern __shared__ double2 shared_room[];
    R *const room = (R *)shared_room;
    cuda_wait_for_last();
    cuda_let_next_begin();
    const lbm_gpu_step &s = a.step;
    const lbm_gpu_layout &l = s.layout;
    if (cuda_is_halted(s.halted, s.clock)) {
        return;
    }
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint32_t place = S::deep ? blockIdx.x : blockIdx.x * S::warps + warp;
    const uint32_t number = s.boundary.free_blocks ? s.boundary.free_blocks[place].number : place;
    const strip w = find_strip<T, ROWS>(l, a.tiles, number, warp);
    if (!S::deep && !w.stores) {
        return;
    }
    const R *__restrict__ from = (const R *)s.from;
    R *__restrict__ to = (R *)s.to;
    const bool left = lane < CUDA_WARP / 2;
    const uint32_t last = w.x + S::width;
    const R *beside = from + moment_beside<T>(w, lane) * l.plane +
                      (left          ? (w.x == 0 ? l.nx : w.x) - 1
                       : last < l.nx ? last
                                     : 0);

    typename T::lbm_rates rates;
    if (PLAIN) {
        rates.omega_even = (R)s.omega_even;
        rates.tau = (R)s.tau;
    } else {
        rates = T::rates_of(s, 0);
    }
    // Shared memory: of this lane's columns.
    R *buffer = room + ((int)warp - 1) * S::width + lane * C; // of the row, if it is no halo row
    R *const speeds =
        room + 2 * S::buffer + warp * S::velocity_row + C + lane * C; // in 3 slots by turns
    uint32_t slot = 0, slot_before = S::velocities, slot_behind = 2 * S::velocities;

    moments_of<T> m[C];
    typename L::moved up[C] = {};
    typename L::open open[C] = {};
    R edge;
    load_plane<T>(from, l.plane, l.nx, w, plane_offset<T>(l, w, w.begin - 1), lane, beside, m,
                  edge);
#pragma unroll 1
    for (uint32_t z = w.begin - 1;; z++) { // from -1 on
        R g[C][T::q];
#pragma unroll
        for (int c = 0; c < C; c++) {
            T::lbm_of_moments(&m[c], COLLISION != LBM_REGULARIZED, g[c]);
        }
        {
            moments_of<T> side;
            R g_side[T::q];
#pragma unroll
            for (int k = 0; k < S::parts; k++) {
                moment<T>(side, k) =
                    T::dims == 3 && k == P_YZ
                        ? (R)0
                        : __shfl_sync(EVERY_LANE, edge, k + (left ? 0 : CUDA_WARP / 2));
            }
            T::lbm_of_moments(&side, COLLISION != LBM_REGULARIZED, g_side);
#define SHIFT(plus, minus)                                    \
    {                                                         \
        const R enters = left ? g_side[plus] : g_side[minus]; \
        shift_up<T>(g, plus, enters, lane);                   \
        shift_down<T>(g, minus, enters, lane);                \
    }
            if constexpr (T::dims == 3) {
                D3Q19_ALONG_X(SHIFT)
            } else {
                D2Q9_ALONG_X(SHIFT)
            }
#undef SHIFT
            if (HYBRID) {
                store_velocities<T>(m, side, lane, S::velocity_part, speeds + slot);
            }
        }
        if (z != w.end) {
            load_plane<T>(from, l.plane, l.nx, w, plane_offset<T>(l, w, z + 1), lane, beside, m,
                          edge);
        }
        if constexpr (T::dims == 3) {
#define SEND(i, number, row)                                              \
    {                                                                     \
        R sent[C];                                                        \
        _Pragma("unroll") for (int c = 0; c < C; c++) {                   \
            sent[c] = g[c][i];                                            \
        }                                                                 \
        wide_store(sent, buffer + (number * S::rows + (row)) * S::width); \
    }
#define SEND_UP(i, number) SEND(i, number, 1)
#define SEND_DOWN(i, number) SEND(i, number, -1)
            if (warp < S::rows) {
                D3Q19_UP_Y(SEND_UP)
            }
            if (warp > 1) {
                D3Q19_DOWN_Y(SEND_DOWN)
            }
#undef SEND_UP
#undef SEND_DOWN
#undef SEND
            __syncthreads();
#define RECEIVE(i, number)                                    \
    {                                                         \
        R got[C];                                             \
        wide_load(buffer + number * S::rows * S::width, got); \
        _Pragma("unroll") for (int c = 0; c < C; c++) {       \
            g[c][i] = got[c];                                 \
        }                                                     \
    }
            if (w.stores) {
                D3Q19_UP_Y(RECEIVE)
                D3Q19_DOWN_Y(RECEIVE)
            }
#undef RECEIVE
        } else if (HYBRID) {
            __syncwarp();
        }
        if (w.stores) {
            moments_of<T> in[C];
#pragma unroll
            for (int c = 0; c < C; c++) {
                in[c] = L::add(g[c], up[c], open[c]);
            }
            if (z != w.begin - 1 && z != w.begin) {
                const uint32_t done = z - 1;
                const uint32_t offset = w.row + done * (S::deep ? l.slice : l.pitch);
                R differences[C][T::differences];
                if (HYBRID) {
                    const R *here = speeds + slot_before;
#pragma unroll
                    for (int c = 0; c < C; c++) {
                        differences_of<T::dims>(
                            [&](int component, int axis, int side) {
                                const int part = component * S::velocity_part + c;
                                return axis == 0 ? here[part + side]
                                       : axis == T::dims - 1
                                           ? speeds[part + (side > 0 ? slot : slot_behind)]
                                           : here[part + side * S::velocity_row];
                            },
                            differences[c]);
                    }
                }
#pragma unroll
                for (int c = 0; c < C; c++) {
                    const uint32_t x = w.x + lane * C + c;
                    if (OBSERVED && s.strains && x < l.nx) {
                        march_keep_strain<T>(
                            s, offset + x, x, S::deep ? w.y + l.low : done + l.base,
                            S::deep ? done + l.base : 0, in[c], HYBRID ? differences[c] : NULL);
                    }
                    if (!PLAIN && s.acceleration_field) {
                        rates = T::rates_of(s, offset + (x < l.nx ? x : 0));
                    }
                    in[c] = T::lbm_collide_moments(&in[c], &rates, COLLISION, !PLAIN,
                                                   !PLAIN && s.les, HYBRID ? differences[c] : NULL);
                }
                const uint32_t x = w.x + lane * C;
                store_moments<T>(in, l.plane, w.whole, x, l.nx, to + offset + x);
            }
        }
        if (z == w.end) {
            return;
        }
        buffer += z % 2 == w.begin % 2 ? -S::buffer : S::buffer;
        if (HYBRID) {
            const uint32_t next = slot_behind;
            slot_behind = slot_before;
            slot_before = slot;
            slot = next;
        }
    }
}

// Chooses how many planes a thread block marches: few fill the last turn of a device, many need
// fewer planes twice.
template <class T, int ROWS>
static void divide(const lbm_gpu_step &s, uint32_t processors, lbm_gpu_tiles *tiles) {
    enum { LEAST = LBM_TILE_PLANES, MOST = 128, TWICE = 3 /* planes loaded and not stored */ };
    typedef shape<T, ROWS> S;
    static_assert(int(S::width) >= int(LBM_TILE_COLUMNS), "the smallest tile");
    static_assert(!S::deep || int(S::rows) >= int(LBM_TILE_ROWS), "the smallest tile");
    const lbm_gpu_layout &l = s.layout;
    const uint32_t rows = S::deep ? l.rows : 1, planes = (l.end_row - l.first_row) / rows;
    const uint32_t places = processors * S::at_once;
    uint32_t least = 0;
    *tiles = lbm_gpu_tiles{};
    tiles->width = S::width;
    tiles->rows = S::rows;
    tiles->strips = S::deep ? 1 : S::warps;
    tiles->across = (l.nx + S::width - 1) / S::width;
    tiles->down = S::deep ? (l.rows + S::rows - 1) / S::rows : 1;
    for (uint32_t n = LEAST; n <= MOST; n++) {
        const uint32_t deep = (planes + n - 1) / n;
        const uint32_t strips = tiles->across * tiles->down * deep;
        const uint32_t blocks = (strips + tiles->strips - 1) / tiles->strips;
        const uint32_t cost = (blocks + places - 1) / places * (n + TWICE);
        if (n == LEAST || cost < least) {
            least = cost;
            tiles->planes = n;
            tiles->deep = deep;
            tiles->blocks = blocks;
        }
    }
}

// Chooses the rows of a thread block, by the shared memory of the device.
template <class T> static cudaError_t divide(const lbm_gpu_step &s, lbm_gpu_tiles *tiles) {
    enum { MOST = rows_of<T>::most, LEAST = rows_of<T>::least };
    int device = 0, processors = 0, room = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess) {
        code = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    }
    if (code == cudaSuccess) {
        code = cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    }
    if (shape<T, MOST>::bytes(s.collision) <= (size_t)room) {
        divide<T, MOST>(s, (uint32_t)processors, tiles);
    } else {
        divide<T, LEAST>(s, (uint32_t)processors, tiles);
    }
    return code;
}

template <class T, int ROWS, int COLLISION, bool PLAIN, bool OBSERVED>
static cudaError_t march_launch_rows(const moments_step &one, cudaStream_t stream) {
    typedef shape<T, ROWS> S;
    const auto kernel = march_kernel<T, ROWS, COLLISION, PLAIN, OBSERVED>;
    const lbm_gpu_step &s = one.step;
    const size_t bytes = S::bytes(COLLISION);
    const uint32_t blocks =
        s.boundary.free_blocks ? s.block_count / one.tiles.strips : one.tiles.blocks;
    cudaError_t code = cudaSuccess;
    if (bytes > 0) {
        code =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    }
    if (code == cudaSuccess && blocks > 0) {
        code = cuda_launch_early(kernel, blocks, S::threads, stream, one, bytes);
    }
    return code;
}

template <class T, int COLLISION, bool PLAIN, bool OBSERVED>
static cudaError_t march_launch(const lbm_gpu_step *s, cudaStream_t stream) {
    enum { MOST = rows_of<T>::most, LEAST = rows_of<T>::least };
    moments_step one;
    one.step = *s;
    const cudaError_t code = divide<T>(*s, &one.tiles);
    return code != cudaSuccess ? code
           : one.tiles.rows == MOST
               ? march_launch_rows<T, MOST, COLLISION, PLAIN, OBSERVED>(one, stream)
               : march_launch_rows<T, LEAST, COLLISION, PLAIN, OBSERVED>(one, stream);
}

template <class T, int COLLISION>
static cudaError_t march_choose_kernel(const lbm_gpu_step *s, cudaStream_t stream) {
    const bool plain = !s->forced && !s->les;
    return s->observed ? plain ? march_launch<T, COLLISION, true, true>(s, stream)
                               : march_launch<T, COLLISION, false, true>(s, stream)
           : plain ? march_launch<T, COLLISION, true, false>(s, stream)
                       : march_launch<T, COLLISION, false, false>(s, stream);
}

template <class T>
static cudaError_t march_choose_collision(const lbm_gpu_step *s, cudaStream_t stream) {
    switch (s->collision) {
    case LBM_RECURSIVE:
        return march_choose_kernel<T, LBM_RECURSIVE>(s, stream);
    case LBM_HYBRID:
        return march_choose_kernel<T, LBM_HYBRID>(s, stream);
    default:
        return march_choose_kernel<T, LBM_REGULARIZED>(s, stream);
    }
}

#ifndef LBM_STEP_TRAITS
#error "compiled once per lattice and precision, with -DLBM_STEP_TRAITS=d2q9_f32 and so on"
#endif
#define JOIN(a, b) a##b
#define NAME(prefix, traits) JOIN(prefix, traits)

extern "C" cudaError_t NAME(lbm_gpu_moments_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                               cudaStream_t stream) {
    return march_choose_collision<LBM_STEP_TRAITS>(step, stream);
}

extern "C" cudaError_t NAME(lbm_gpu_moments_tiles_, LBM_STEP_TRAITS)(const lbm_gpu_step *step,
                                                                     lbm_gpu_tiles *tiles) {
    return divide<LBM_STEP_TRAITS>(*step, tiles);
}
