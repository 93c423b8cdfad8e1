/* rule_print_cuda.c -- the functions of sel.rule as CUDA C, from the instructions that the
 * processor runs, so that types and values are the same.
 *
 * A thread has some cells of a row. What it reads stands in windows, a field's row each; then the
 * instructions follow for each cell, a variable for each value; results are stored together. Odd
 * cells are done one by one, so that they cost the others no registers.
 */
#include <stdlib.h>
#include "engine/values/program_print.h"
#include "engine/solvers/rule/rule_kernels_cuda.h"

/* ---- the functions of a model ---- */

enum { LOAD = 16 /* bytes */, MOST_OPERATIONS = 2000 /* of a thread */ };

rule_shape rule_shape_of(const rule_model *m, int k) {
    const rule_function *f = &m->function[k];
    const int count = f->code->chains;
    int largest = 1;
    for (int i = 0; i < m->fields; i++) {
        const int size = (f->reads | f->writes) >> i & 1 ? rule_size(m, i) : 1;
        largest = size > largest ? size : largest;
    }
    /* Where two fields or more are read, a second row per thread costs more loads than it saves. */
    const bool one = !(f->looks & (f->looks - 1));
    rule_shape shape = {LOAD / largest, m->dims == 2 && one ? 2 : 1};
    while (shape.cells * shape.rows > 1 && shape.cells * shape.rows * count > MOST_OPERATIONS) {
        *(shape.rows > 1 ? &shape.rows : &shape.cells) /= 2;
    }
    return shape;
}

unsigned rule_blocks(const rule_view *v, rule_shape shape) {
    return cuda_shares(v->grid.n[0], RULE_LANES * shape.cells) *
           cuda_shares(v->end_row - v->first_row, RULE_LANE_ROWS * shape.rows);
}

/* ---- views ---- */

rule_view rule_view_of(const rule_state *state, const rule_tables *tables, int k,
                       const sel_patch *planes, uint64_t turns) {
    const rule_model *m = state->model;
    const rule_function *f = &m->function[k];
    const sel_grid *grid = &state->plan->base.domain->grid;
    const sel_decomposition *d = &state->base.decomposition;
    const bool boxes = sel_divides_planes(d);
    const int64_t all = state->base.rows_per_plane;
    const int64_t rows = boxes ? sel_patch_cells(planes, 1) : all;
    const int64_t first = planes->lo[d->slow], end = planes->hi[d->slow];
    rule_view v = {.kind = state->kind,
                   .odd = state->kinds > 1 ? state->odd : NULL,
                   .tables = tables,
                   .grid = *grid,
                   .output = rule_layout(state)->component,
                   .first_row = first * rows,
                   .end_row = end * rows,
                   .low = sel_patch_low(d, planes),
                   .height = boxes ? rows : 0,
                   .beyond = end * all,
                   .first = rule_layout(state)->origin,
                   .pitch = rule_layout(state)->pitch,
                   .slice = rule_layout(state)->slice,
                   .pieces = rule_pieces(grid->n[0]),
                   .seed = (uint64_t)m->params->seed,
                   .writes = f->writes,
                   .function = k,
                   .functions = m->functions};
    for (int i = 0; i < m->fields; i++) {
        const int turn = (int)(turns >> i & 1);
        v.from[i] = state->tables.at[i][turn];
        v.to[i] = state->tables.at[i][turn ^ (int)(f->turns >> i & 1)];
    }
    return v;
}

/* ---- printing ---- */

typedef struct printer {
    sel_printer all;
    FILE *to;
    const rule_model *model;
    const rule_function *f;
    const sel_program *code;
    int function;
    bool halts;
    rule_shape shape;
    struct window *window; /* of all reads */
    int windows;
} printer;

/* Rows low to high of a field in a plane, with `left` and `right` further columns. */
typedef struct window {
    int field, plane, low, high, left, right;
} window;

static const char *stored_type(const printer *p, int field) {
    const sel_cell_type type = p->model->field[field].type;
    return type == SEL_CELL_U8              ? "uint8_t"
           : type == SEL_CELL_I32           ? "int32_t"
           : p->model->precision == SEL_F32 ? "float"
                                            : "double";
}

static const char *read_type(const printer *p, int field) {
    return p->model->field[field].type == SEL_CELL_U8 ? "int32_t" : stored_type(p, field);
}

/* What is read of fields, each row once. */
static int window_of(printer *p, const sel_read *read) {
    int w = 0;
    while (w < p->windows &&
           (p->window[w].field != read->field || p->window[w].plane != read->at[2])) {
        w++;
    }
    if (w == p->windows) {
        p->window[p->windows++] =
            (window){read->field, read->at[2], read->at[1], read->at[1], 0, 0};
    }
    return w;
}

static void find_windows(printer *p) {
    for (int k = 0; k < p->code->layout.reads; k++) {
        const sel_read *read = &p->code->tables.read[k];
        window *w = &p->window[window_of(p, read)];
        w->low = read->at[1] < w->low ? read->at[1] : w->low;
        w->high = read->at[1] > w->high ? read->at[1] : w->high;
        w->left = -read->at[0] > w->left ? -read->at[0] : w->left;
        w->right = read->at[0] > w->right ? read->at[0] : w->right;
    }
}

static void print_windows(const printer *p) {
    for (int k = 0; k < p->windows; k++) {
        const window *w = &p->window[k];
        const char *type = stored_type(p, w->field);
        fprintf(p->to,
                "    %s w%d[ROWS + %d][%d + N];\n"
                "    rule_window<%s, N, ROWS + %d, %d, %d>(v, p, %d, %d, %d, %d, w%d);\n",
                type, k, w->high - w->low, w->left + w->right, type, w->high - w->low, w->left,
                w->right, w->field, w->low, w->high, w->plane, k);
    }
}

static void print_reads(printer *p) {
    for (int k = 0; k < p->code->layout.reads; k++) {
        const sel_read *read = &p->code->tables.read[k];
        const int w = window_of(p, read);
        const bool own = !read->at[0] && !read->at[1] && !read->at[2];
        const char *type = read_type(p, read->field);
        fprintf(p->to, "        const %s r%d = ", type, k);
        if (!own) {
            fprintf(p->to,
                    "rule_beside<ODD, %s, %s>(v, q, j, %d, %d + %d * v.pitch + %d * v.slice, ",
                    type, stored_type(p, read->field), read->field, read->at[0], read->at[1],
                    read->at[2]);
        }
        fprintf(p->to, "w%d[r + %d][j + %d]%s;\n", w, read->at[1] - p->window[w].low,
                p->window[w].left + read->at[0], own ? "" : ")");
    }
}

static void print_stores(const printer *p) {
    if (p->code->layout.fails >= 0) {
        fprintf(p->to, "        rule_failed<ODD, N>(v, q, fails[r]);\n");
    }
    for (int o = 0; o < p->code->layout.outputs; o++) {
        const sel_program_output *out = &p->code->tables.output[o];
        if (p->code->layout.numbers) {
            fprintf(p->to, "        rule_store_numbers<N>(v, q, %d, o%d[r]);\n", out->field, o);
        } else {
            fprintf(p->to, "        rule_store<ODD, %s, %s, %s, N>(v, q, %d, %d, o%d[r]);\n",
                    out->checked ? "true" : "false", sel_print_type(&p->all, out->type),
                    stored_type(p, out->field), o, out->field, o);
        }
    }
}

static void print_function(printer *p) {
    const sel_program *code = p->code;
    const bool fails = code->layout.fails >= 0;
    char name[SEL_PRINT_NAME];
    fprintf(p->to,
            "\n// %s: %d operations on %d numbers\n"
            "template <bool ODD, int N, int ROWS>\n"
            "RULE_CALL void cells_%d(const rule_view &v, const rule_at &p) {\n",
            p->f->name, code->operations, code->layout.reads, p->function);
    sel_print_uniforms(&p->all);
    print_windows(p);
    for (int o = 0; o < code->layout.outputs; o++) {
        fprintf(p->to, "    %s o%d[ROWS][N];\n",
                sel_print_type(&p->all, code->tables.output[o].type), o);
    }
    fputs(fails ? "    int32_t fails[ROWS][N];\n" : "", p->to);
    fputs("#pragma unroll\n    for (int k = 0; k < ROWS * N; k++) {\n"
          "        const int r = k / N, j = k % N;\n"
          "        const rule_at q = rule_moved(v, p, 0, r);\n",
          p->to);
    print_reads(p);
    sel_print_instructions(&p->all, p->code->layout.once, p->code->layout.each);
    for (int o = 0; o < code->layout.outputs; o++) {
        fprintf(p->to, "        o%d[r][j] = %s;\n", o,
                sel_print_name(&p->all, code->tables.output[o].slot, name));
    }
    if (fails) {
        fprintf(p->to, "        fails[r][j] = %s;\n",
                sel_print_name(&p->all, code->layout.fails, name));
    }
    fputs("    }\n#pragma unroll\n    for (int r = 0; r < ROWS; r++) {\n"
          "        const rule_at q = rule_moved(v, p, 0, r);\n",
          p->to);
    print_stores(p);
    fprintf(p->to,
            "    }\n}\n\nextern \"C\" __global__ void __launch_bounds__(%d) function_%d(\n"
            "    const __grid_constant__ rule_view v) {\n"
            "    enum { N = %d, ROWS = %d };\n"
            "    rule_at p;\n%s"
            "    if (rule_begin<N, ROWS>(v, p) && !p.odd) {\n"
            "        cells_%d<false, N, ROWS>(v, p);\n"
            "        return;\n    }\n"
            "#pragma unroll 1\n"
            "    for (int k = 0; k < N * ROWS; k++) {\n"
            "        const rule_at q = rule_moved(v, p, k %% N, k / N);\n"
            "        if (rule_is_there(v, q)) {\n"
            "            cells_%d<true, 1, 1>(v, q);\n        }\n    }\n}\n",
            RULE_THREADS, p->function, p->shape.cells, p->shape.rows,
            p->halts ? "    if (v.halted && *v.halted <= *v.clock + v.ahead) {\n"
                       "        return;\n    }\n"
                     : "",
            p->function, p->function);
}

/* What stands beyond the faces of a grid that is marched over. */
static void print_beyond(const printer *p, const rule_march *march) {
    fputs("    __device__ __forceinline__ void beyond(int face, const real (&near)[FIELDS],\n"
          "                                           const real (&)[FIELDS], real (&out)[FIELDS]) "
          "const {\n",
          p->to);
    for (int f = 0; f < march->fields; f++) {
        fprintf(p->to, "        out[%d] = near[%d];\n", f, f);
        for (int face = 0; face < 2 * p->model->dims; face++) {
            const double a = march->a[face][f], b = march->b[face][f];
            char mirrored[32] = "";
            if (a != 0) {
                snprintf(mirrored, sizeof mirrored, " %c (double)near[%d]", a < 0 ? '-' : '+', f);
            }
            if (a != 1 || b != 0) {
                fprintf(p->to, "        out[%d] = face == %d ? (real)(%a%s) : out[%d];\n", f, face,
                        b, mirrored, f);
            }
        }
    }
    fputs("    }\n", p->to);
}

/* The function as a rule of temporal_blocking.cuh, and its kernels. */
static void print_march(printer *p, const rule_march *march) {
    char name[SEL_PRINT_NAME];
    int number[RULE_FIELDS] = {0};
    fprintf(p->to,
            "\n#include \"cuda/temporal_blocking.cuh\"\n\n"
            "struct march_rule {\n    typedef %s real;\n    typedef %s stored;\n"
            "    enum { FIELDS = %d };\n"
            "    __device__ __forceinline__ void next(const real (&w)[3][3][FIELDS],\n"
            "                                         real (&out)[FIELDS]) const {\n",
            read_type(p, *march->field), stored_type(p, *march->field), march->fields);
    for (int f = 0; f < march->fields; f++) {
        number[march->field[f]] = f;
    }
    sel_print_uniforms(&p->all);
    for (int k = 0; k < p->code->layout.reads; k++) {
        const sel_read *read = &p->code->tables.read[k];
        fprintf(p->to, "        const real r%d = w[%d][%d][%d];\n", k, 1 + read->at[1],
                1 + read->at[0], number[read->field]);
    }
    sel_print_instructions(&p->all, p->code->layout.once, p->code->layout.each);
    for (int o = 0; o < p->code->layout.outputs; o++) {
        fprintf(p->to, "        out[%d] = %s;\n", number[p->code->tables.output[o].field],
                sel_print_name(&p->all, p->code->tables.output[o].slot, name));
    }
    fputs("    }\n", p->to);
    print_beyond(p, march);
    fputs("    __device__ __forceinline__ march_site<real> site(int, int) const {\n"
          "        return {0, 0};\n    }\n"
          "    __device__ __forceinline__ void touched(const real (&)[FIELDS], real (&)[FIELDS],\n"
          "                                            const march_site<real> &) const {}\n};\n",
          p->to);
    for (int inner = 0; inner < 2; inner++) {
        fprintf(p->to,
                "\nextern \"C\" __global__ void __launch_bounds__(%d, %d) march_%s(\n"
                "    const __grid_constant__ march_grid g) {\n"
                "    march_warp<march_rule, %d, %d, %d, %s>(g, march_rule());\n}\n",
                MARCH_WARPS * CUDA_WARP, inner ? march->blocks : 2, inner ? "inner" : "border",
                march->steps, march->columns, inner ? march->at_once : 2, inner ? "false" : "true");
    }
}

void rule_print(const rule_model *m, double dt, bool halts, const rule_march *march, FILE *to) {
    fputs("#include \"engine/solvers/rule/rule_cell.cuh\"\n", to);
    for (int k = 0; k < m->functions; k++) {
        const rule_function *f = &m->function[k];
        if (!f->rule) {
            continue;
        }
        const sel_program *code = f->code;
        printer p = {
            .all = {.fuses = !m->params->exact, .constant = m->params->dt.limit ? 0 : SEL_ON_DT},
            .to = to,
            .model = m,
            .f = f,
            .code = code,
            .function = k,
            .halts = halts && k < m->rules,
            .shape = rule_shape_of(m, k),
            .window = calloc((size_t)code->layout.reads + 1, sizeof(window))};
        if (sel_printer_open(&p.all, code, dt, to) && p.window) {
            find_windows(&p);
            print_function(&p);
            if (march && k == 0) {
                print_march(&p, march);
            }
        }
        sel_printer_close(&p.all);
        free(p.window);
    }
}
