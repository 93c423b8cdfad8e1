/* prepare.c -- preparing a simulation: backend, checks, domain, plan, memory, warnings. */
#include "engine/run/prepare.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/core/team.h"
#include "engine/output/output.h"

/* In f32 the change between two tests does not fall below the round-off of the populations. */
static const double least_steady_f32 = 1e-5;
/* A step of this many cells takes at least 20 microseconds; the barrier after it takes one or two.
 * On 64 x 64 cells two threads are 1.5 times as fast as one. */
static const int64_t least_cells_per_thread = 4096;

static sel_status check_numbers(const sel_simulation *simulation, int precision, sel_error *error) {
    const double steady = simulation->params->stop.steady;
    const int64_t threads = simulation->params->threads;
    const bool counts = simulation->solver->counts_changes;
    sel_status status = SEL_OK;
    if (precision == SEL_F32 && steady < least_steady_f32 && !counts) {
        status = sel_fail_at(error, sel_simulation_where(simulation, "stop"),
                             "stop.steady = %g is below what f32 resolves (%g); set precision = "
                             "\"f64\" or raise it",
                             steady, least_steady_f32);
    }
    if (precision == SEL_F32 && simulation->solver->double_only) {
        status =
            sel_fail_at(error, sel_simulation_where(simulation, "precision"),
                        "sel.%s computes in f64: leave precision out", simulation->solver->name);
    }
    if (threads > SEL_MAX_THREADS) {
        status = sel_fail_at(error, sel_simulation_where(simulation, "threads"),
                             "threads must be at most %d, got %lld", SEL_MAX_THREADS,
                             (long long)threads);
    }
    return status;
}

static sel_status prepare_store(const sel_simulation *simulation, const sel_settings *settings,
                                sel_error *error) {
    const sel_solver *solver = simulation->solver;
    if (!settings->stores) {
        return SEL_OK;
    }
    return solver->store
               ? solver->store(simulation, settings->storage, error)
               : sel_fail_as(error, SEL_BAD_USAGE, simulation->params->at,
                             "sel.%s stores its state in one way only: leave --storage out",
                             solver->name);
}

static const sel_ranks *prepare_ranks(const sel_settings *settings) {
    return settings->ranks ? settings->ranks : &sel_one_rank;
}

/* ---- choosing the backend ---- */

sel_status sel_backend_wait(const sel_backend *backend, sel_state *state, sel_error *error) {
    return backend->wait ? backend->wait(state, error) : SEL_OK;
}

/* Chooses `backend`; fails if the device cannot be used, or does not serve the solver. */
static sel_status prepare_take(const sel_solver *solver, const sel_backend *backend, int device,
                               sel_choice *choice, sel_error *error) {
    choice->backend = backend;
    choice->free_bytes = 0;
    const sel_status status = backend->probe(device, &choice->free_bytes, error);
    return status || !backend->serves ? status : backend->serves(solver, error);
}

sel_status sel_backend_choose(const sel_solver *solver, int wanted, int device, sel_choice *choice,
                              sel_error *error) {
    sel_error why = {.status = SEL_OK};
    *choice = (sel_choice){.backend = solver->cpu};
    if (wanted == SEL_BACKEND_CUDA) {
        return solver->cuda ? prepare_take(solver, solver->cuda, device, choice, error)
                            : sel_fail(error, SEL_NO_DEVICE,
                                       "this build of Selenite has no CUDA backend for sel.%s; "
                                       "build it where nvcc is installed, or use --backend cpu",
                                       solver->name);
    }
    if (wanted != SEL_BACKEND_CPU && solver->cuda) {
        if (prepare_take(solver, solver->cuda, device, choice, &why) == SEL_OK) {
            return SEL_OK;
        }
        if (choice->free_bytes > 0 || sel_machine_has_gpu()) {
            snprintf(choice->fallback, sizeof choice->fallback, "%.500s", why.text);
        }
    }
    return prepare_take(solver, solver->cpu, device, choice, error);
}

/* The device of this rank: the ranks of a machine take its devices round-robin. */
static int device_of(const sel_settings *settings, const sel_backend *backend) {
    const int count = backend && backend->devices ? backend->devices() : 0;
    const int place = prepare_ranks(settings)->place;
    return place > 0 && count > 0 ? (settings->device + place) % count : settings->device;
}

/* If auto found no GPU for one of the ranks, all ranks take the CPU. */
static sel_status agree_on_cpu(const sel_ranks *ranks, const sel_solver *solver, int device,
                               sel_choice *choice, sel_error *error) {
    const bool on_cpu = choice->backend == solver->cpu;
    if (sel_ranks_total(ranks, on_cpu) == 0 || on_cpu) {
        return error->status;
    }
    snprintf(choice->fallback, sizeof choice->fallback, "one of the ranks has none");
    return prepare_take(solver, solver->cpu, device, choice, error);
}

static sel_status prepare_choose_backend(const sel_settings *settings, sel_prepared *prepared,
                                         sel_error *error) {
    const sel_simulation *simulation = prepared->simulation;
    bool scenario = settings->backend < 0;
    int wanted = scenario ? simulation->params->backend : settings->backend;
    const sel_solver *solver = simulation->solver;
    sel_error why = {.status = SEL_OK};
    if (wanted != SEL_BACKEND_CPU && solver->cuda && solver->portable) {
        solver->portable(simulation, &why);
    }
    if (why.status) {
        if (wanted == SEL_BACKEND_CUDA) {
            return sel_fail(error, why.status, "%s", why.text);
        }
        wanted = SEL_BACKEND_CPU;
    }
    const int device = device_of(settings, solver->cuda);
    sel_status status = sel_backend_choose(solver, wanted, device, &prepared->choice, &why);
    if (wanted != SEL_BACKEND_CPU && wanted != SEL_BACKEND_CUDA) {
        status = agree_on_cpu(prepare_ranks(settings), solver, device, &prepared->choice, &why);
    }
    if (!status && why.text[0]) {
        snprintf(prepared->choice.fallback, sizeof prepared->choice.fallback, "%.500s", why.text);
    }
    if (status) {
        const sel_where none = {NULL, 0};
        const sel_where place = scenario ? sel_simulation_where(simulation, "backend") : none;
        return sel_fail_as(error, status, place, "%s", why.text);
    }
    prepared->backend = prepared->choice.backend;
    if (prepare_ranks(settings)->count > 1 && prepare_ranks(settings)->rank == 0) {
        prepared->of_team = *prepared->choice.backend;
        sel_team_lead(&prepared->of_team);
        prepared->backend = &prepared->of_team;
    }
    prepared->backend->device(device, prepared->device, sizeof prepared->device);
    return SEL_OK;
}

/* ---- memory ---- */

static bool on_device(const sel_prepared *prepared) {
    return prepared->choice.backend != prepared->simulation->solver->cpu;
}

static sel_status too_large(const sel_prepared *prepared, double cells, double need,
                            sel_error *error) {
    double have = (double)prepared->choice.free_bytes;
    char memory[320] = "memory", advice[64] = "";
    char needed[SEL_BYTES_ROOM], free_now[SEL_BYTES_ROOM];
    if (on_device(prepared)) {
        snprintf(memory, sizeof memory, "memory on the device (%s)", prepared->device);
        if (need < (double)sel_machine_free_memory()) {
            snprintf(advice, sizeof advice, ", and --backend cpu has room for all");
        }
    }
    return sel_fail_as(error, SEL_NO_DEVICE, sel_simulation_where(prepared->simulation, "size"),
                       "%.3g cells need %s of %s and %s are free; %.2g cells would fit%s", cells,
                       sel_bytes_text(need, needed), memory, sel_bytes_text(have, free_now),
                       cells * have / need, advice);
}

/* Checks the memory before anything is painted, so that a mistake in `size` is reported at once.
 * The types of cells, a byte each, are in host memory on any backend. */
static sel_status prepare_check_size(const sel_prepared *prepared, int precision,
                                     const sel_ranks *ranks, sel_error *error) {
    const sel_simulation *simulation = prepared->simulation;
    const sel_ints *size = &simulation->params->size;
    double cells = 1;
    for (int a = 0; a < size->n; a++) {
        cells *= (double)size->v[a];
    }
    double host = (double)sel_machine_free_memory();
    double need = cells * simulation->solver->bytes(simulation->params, precision).state;
    need *= (double)(on_device(prepared) ? 1 : ranks->here) / ranks->count;
    if (!on_device(prepared)) {
        need += cells;
    } else if (cells > host) {
        char needed[SEL_BYTES_ROOM], free_now[SEL_BYTES_ROOM];
        return sel_fail_as(error, SEL_NO_DEVICE, sel_simulation_where(simulation, "size"),
                           "%.3g cells need %s of the machine's memory beside the device's and %s "
                           "are free",
                           cells, sel_bytes_text(cells, needed), sel_bytes_text(host, free_now));
    }
    return need > (double)prepared->choice.free_bytes ? too_large(prepared, cells, need, error)
                                                      : SEL_OK;
}

/* ---- threads ---- */

/* Cores per rank of this machine. */
static int cores_of_rank(const sel_ranks *ranks) {
    const int cores = sel_machine_threads() / ranks->here;
    return cores > 1 ? cores : 1;
}

/* The number of threads that pays for the cells of a rank: at most its cores. */
static int worth_of_threads(const sel_domain *domain, const sel_ranks *ranks) {
    int64_t worth = 1 + sel_grid_cells(&domain->grid) / ranks->count / least_cells_per_thread;
    int cores = cores_of_rank(ranks);
    return worth < cores ? (int)worth : cores;
}

/* Sets the number of OpenMP threads, which all parallel loops use. */
static void use_threads(sel_prepared *prepared, int threads) {
    if (prepared->outer_threads == 0) {
        prepared->outer_threads = omp_get_max_threads();
    }
    omp_set_num_threads(threads);
}

/* Chooses the number of ranks along y of a 3-D grid: by sel_decompose, or SELENITE_ACROSS, by which
 * tests choose another decomposition. */
static sel_status choose_ranks_y(sel_prepared *prepared, sel_error *error) {
    const sel_simulation *simulation = prepared->simulation;
    const char *text = getenv("SELENITE_ACROSS");
    char *end = NULL;
    const long given = text ? strtol(text, &end, 10) : 0;
    if (text && (end == text || *end || given < 1 || given > SEL_MOST_RANKS)) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "SELENITE_ACROSS=%s: a whole number from 1 to %d; leave it out", text,
                        SEL_MOST_RANKS);
    }
    const bool deep = sel_common_grid(simulation->params).dims == 3;
    /* Devices exchange whole planes, directly between neighbours. */
    const int fits = on_device(prepared) ? SEL_FEW_RANKS_Y : 0;
    prepared->ranks_y = !deep ? 1 : given ? (int)given : fits;
    return deep || given <= 1
               ? SEL_OK
               : sel_fail_as(error, SEL_BAD_USAGE, sel_simulation_where(simulation, "size"),
                             "SELENITE_ACROSS=%ld: a grid of 2 dimensions is cut along y anyway; "
                             "leave it out",
                             given);
}

sel_status sel_ranks_fit(const sel_prepared *prepared, int count, sel_decomposition *decomposition,
                         sel_error *error) {
    const sel_grid *grid = &prepared->domain->grid;
    const int ranks_y = prepared->ranks_y;
    const int most = sel_decompose(prepared->domain, count, ranks_y, decomposition);
    const sel_where where = sel_simulation_where(prepared->simulation, "size");
    if (most == count) {
        return SEL_OK;
    }
    return ranks_y > 1 && (count % ranks_y || decomposition->ranks[1] < ranks_y)
               ? sel_fail_as(
                     error, SEL_BAD_USAGE, where,
                     "SELENITE_ACROSS=%d: %d ranks cannot be divided into rows of %d along y, "
                     "which has %lld cells; use a divisor of %d with at least 2 cells per rank, "
                     "or leave it out",
                     ranks_y, count, ranks_y, (long long)grid->n[1], count)
               : sel_fail_as(error, SEL_BAD_USAGE, where,
                             "the grid is cut along %s, where %lld cells are enough for %d ranks, "
                             "not for %d",
                             sel_axis_names[grid->dims - 1], (long long)grid->n[grid->dims - 1],
                             most, count);
}

sel_status sel_prepare(const sel_simulation *simulation, const sel_settings *settings,
                       sel_prepared *prepared, sel_error *error) {
    const sel_common *common = simulation->params;
    const sel_ranks *ranks = prepare_ranks(settings);
    const int wanted = settings->precision >= 0 ? settings->precision : common->precision;
    const int precision = wanted == SEL_PRECISION_AUTO ? SEL_F32 : wanted; /* at least */
    *prepared = (sel_prepared){.simulation = simulation};

    if (simulation->mistakes) {
        return sel_fail(error, simulation->mistakes->status, "%s", simulation->mistakes->text);
    }
    sel_status status = prepare_store(simulation, settings, error);
    status = status ? status : check_numbers(simulation, precision, error);
    sel_status backend = prepare_choose_backend(settings, prepared, error);
    backend = backend ? backend : choose_ranks_y(prepared, error);
    sel_status size = backend ? backend : prepare_check_size(prepared, precision, ranks, error);
    status = status ? status : size;
    status = sel_ranks_agree(ranks, status, error); /* sel_domain_create is collective */
    if (status) {
        return status;
    }
    const int own = common->threads == SEL_INT_NOT_GIVEN ? 0 : (int)common->threads;
    const int given = settings->threads > 0 ? settings->threads : own; /* 0: not given */
    use_threads(prepared, given ? given : cores_of_rank(ranks));
    status = sel_domain_create(simulation, ranks, &prepared->domain, error);
    status = status ? status : sel_saved_check(simulation, prepared->domain->grid.dims, error);
    sel_decomposition decomposition;
    status = status ? status : sel_ranks_fit(prepared, ranks->count, &decomposition, error);
    if (status) {
        return status;
    }
    const sel_backend *chosen = prepared->choice.backend;
    const bool divides = !chosen->decompose ||
                         chosen->decompose(simulation, &prepared->domain->grid, &decomposition);
    sel_domain_divide(prepared->domain, divides ? ranks : NULL, &decomposition);
    /* Mistakes in laws and in outputs are reported together. */
    status = sel_plan_create(simulation, prepared->domain, wanted, &prepared->plan, error);
    sel_status outputs = sel_outputs_check(simulation, prepared->domain, error);
    status = status ? status : outputs;
    if (status) {
        return status;
    }
    sel_plan *plan = prepared->plan;
    plan->device = device_of(settings, simulation->solver->cuda);
    plan->ranks = settings->ranks;
    plan->ranks_y = prepared->ranks_y;
    plan->threads = given ? given : worth_of_threads(prepared->domain, ranks);
    use_threads(prepared, plan->threads);
    status = sel_outputs_wants(simulation, plan, error);
    if (status) {
        return status;
    }
    const sel_share share = prepared->backend->estimate(plan);
    prepared->bytes = share.memory;
    prepared->own = share.patch;
    const double need = (double)prepared->bytes * (on_device(prepared) ? 1 : ranks->here);
    if (need > (double)prepared->choice.free_bytes) {
        return too_large(prepared, (double)sel_grid_cells(&prepared->domain->grid), need, error);
    }
    return SEL_OK;
}

void sel_prepared_release(sel_prepared *prepared) {
    sel_plan_destroy(prepared->plan);
    sel_domain_destroy(prepared->domain);
    if (prepared->outer_threads > 0) {
        omp_set_num_threads(prepared->outer_threads);
    }
    prepared->plan = NULL;
    prepared->domain = NULL;
    prepared->outer_threads = 0;
}

/* ---- setting up ---- */

enum { LONGEST_LINE = 2048 };

/* Evaluates the laws at the last step, so that a run does not fail after hours because a series
 * ends too early. Only a warning if the run may end before. */
static sel_status check_last_step(const sel_plan *plan, sel_error *warnings, sel_error *error) {
    const sel_simulation *simulation = plan->simulation;
    const sel_common *common = simulation->params;
    int64_t last_step = sel_stop_step(common);
    if (!simulation->solver->ahead || last_step == INT64_MAX || last_step < 1) {
        return SEL_OK;
    }
    sel_error found = {.status = SEL_OK};
    char text[LONGEST_LINE];
    sel_status status = simulation->solver->ahead(plan, last_step - 1, &found);
    for (int i = 0; sel_warnings_line(&found, i, text, sizeof text); i++) {
        if (sel_may_end_early(common)) {
            sel_fail(warnings, status, "%s (in step %lld, if the run gets there)", text,
                     (long long)last_step);
        } else {
            sel_fail(error, status, "%s (in step %lld, the last)", text, (long long)last_step);
        }
    }
    return sel_may_end_early(common) ? SEL_OK : status;
}

sel_status sel_set_up(const sel_simulation *simulation, const sel_settings *settings,
                      sel_prepared *prepared, sel_state **state, sel_error *error) {
    const sel_ranks *ranks = prepare_ranks(settings);
    *state = NULL;
    if (ranks->count > 1 && ranks->rank == 0) {
        sel_order order = {.kind = SEL_ORDER_SET_UP, .simulation = settings->simulation};
        sel_order_give(ranks, &order);
    }
    sel_status status = sel_prepare(simulation, settings, prepared, error);
    status = sel_ranks_agree(ranks, status, error);
    status =
        status ? status : sel_plan_compare(ranks, prepared->plan, prepared->backend->name, error);
    if (!status && ranks->rank > 0) {
        sel_domain_keep(prepared->domain, &prepared->own); /* rank 0 draws, and places probes */
    }
    status = status ? status : prepared->backend->create(prepared->plan, state, error);
    /* Warnings evaluate laws at the last step, each rank those of its patch: a function that fails
     * at step 0 is reported before. */
    if (!status && ranks->rank > 0) {
        sel_error unread = {.status = SEL_OK};
        check_last_step(prepared->plan, &unread, &unread);
    }
    return status || ranks->rank > 0
               ? status
               : sel_warnings_find(prepared->plan, &prepared->warnings, error);
}

/* ---- lists of simulations ---- */

void sel_name_simulation(const sel_scenario *scenario, const sel_simulation *simulation,
                         size_t from, sel_error *error) {
    const char *name = simulation->params->name;
    char *text = scenario->count > 1 && name ? strdup(error->text + from) : NULL;
    size_t used = from;
    for (char *line = text; line && *line;) {
        const size_t length = strcspn(line, "\n");
        const bool last = line[length] == '\0';
        line[length] = '\0';
        snprintf(error->text + used, sizeof error->text - used, "%s (simulation '%.60s')%s", line,
                 name, last ? "" : "\n");
        used += strlen(error->text + used);
        line += length + !last;
    }
    free(text);
}

sel_status sel_set_up_list(const sel_scenario *scenario, const sel_settings *settings,
                           sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < scenario->count && scenario->count > 1; i++) {
        const sel_simulation *simulation = &scenario->simulations[i];
        /* sel_set_up fills in a dt that the script leaves out: it is restored, so that the run
         * itself finds the same script. */
        const double dt = simulation->params->dt;
        const size_t before = strlen(error->text);
        sel_settings own = *settings;
        sel_prepared prepared;
        sel_state *state;
        own.simulation = i;
        const sel_status one = sel_set_up(simulation, &own, &prepared, &state, error);
        if (prepared.backend) {
            prepared.backend->destroy(state);
        }
        sel_prepared_release(&prepared);
        simulation->params->dt = dt;
        sel_name_simulation(scenario, simulation, before > 0 && one ? before + 1 : before, error);
        status = status ? status : one;
    }
    return status;
}

/* ---- warnings ---- */

sel_status sel_warnings_find(const sel_plan *plan, sel_error *warnings, sel_error *error) {
    *warnings = (sel_error){.status = SEL_OK};
    /* First, since a function that never returns is reported where it is first called. */
    sel_status status = check_last_step(plan, warnings, error);
    sel_domain_warn(plan->domain, warnings);
    sel_saved_warn(plan, warnings);
    if (!status) {
        sel_series_warn(plan, warnings);
    }
    if (plan->simulation->solver->warn && !status) {
        plan->simulation->solver->warn(plan, warnings);
    }
    sel_outputs_warn(plan->simulation, plan->domain, warnings);
    return status;
}

bool sel_warnings_line(const sel_error *warnings, int index, char *text, size_t size) {
    const char *at = warnings->status ? warnings->text : "";
    for (int k = 0; k < index && *at; k++) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    snprintf(text, size, "%.*s", (int)strcspn(at, "\n"), at);
    return *at != '\0';
}

void sel_warnings_print(const sel_error *warnings, const char *before, FILE *to) {
    char text[LONGEST_LINE];
    for (int i = 0; sel_warnings_line(warnings, i, text, sizeof text); i++) {
        fprintf(to, "%swarning: %s\n", before, text);
    }
}

/* ---- ranks other than 0 ---- */

void sel_follow(const sel_scenario *scenario, const sel_settings *settings) {
    sel_order order;
    for (sel_order_give(settings->ranks, &order); order.kind == SEL_ORDER_SET_UP;
         sel_order_give(settings->ranks, &order)) {
        const sel_simulation *simulation = &scenario->simulations[order.simulation];
        const double dt = simulation->params->dt;
        sel_prepared prepared;
        sel_state *state;
        sel_error error = {.status = SEL_OK}; /* rank 0 reports it */
        if (!sel_set_up(simulation, settings, &prepared, &state, &error)) {
            sel_team_follow(state, prepared.backend);
        }
        sel_prepared_release(&prepared);
        simulation->params->dt = dt;
    }
}

void sel_follow_end(const sel_ranks *ranks) {
    sel_order order = {.kind = SEL_ORDER_END};
    sel_order_give(ranks, &order);
}
