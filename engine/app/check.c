/* check.c -- `selenite check`: prints sizes, numbers, regions, memory and time of a scenario. */

#include <math.h>
#include <string.h>
#include "engine/base/hardware.h"
#include "engine/io/raster.h"
#include "engine/core/cpu.h"
#include "engine/run/run.h"
#include "engine/scene/sizes.h"
#include "engine/values/series.h"

static const double calibration_seconds = 0.3;

static void check_print_setup(const sel_prepared *prepared, FILE *to) {
    const sel_grid *grid = &prepared->domain->grid;
    char sides[SEL_SIDES_TEXT];
    fprintf(to, "  size                       %lld x %lld", (long long)grid->n[0],
            (long long)grid->n[1]);
    if (grid->dims == 3) {
        fprintf(to, " x %lld", (long long)grid->n[2]);
    }
    fprintf(to, " = %lld %s, %lld of them free\n", (long long)sel_grid_cells(grid),
            grid->nodes ? "nodes" : "cells", (long long)prepared->domain->free_cells);
    fprintf(to, "  dx, dt                     %s, %g\n", sel_sides_text(grid, 6, sides), grid->dt);
    if (grid->periodic) {
        fputs("  periodic                  ", to);
        for (int a = 0; a < grid->dims; a++) {
            if (sel_axis_periodic(grid, a)) {
                fprintf(to, " %s", sel_axis_names[a]);
            }
        }
        fputc('\n', to);
    }
    fprintf(to, "  precision                  %s\n",
            sel_precision_names[prepared->plan->precision]);
    fprintf(to, "  backend                    %s: %s, %d thread%s\n", prepared->backend->name,
            prepared->device, prepared->plan->threads, prepared->plan->threads == 1 ? "" : "s");
    if (*prepared->choice.fallback) {
        fprintf(to, "  no GPU can be used         %s\n", prepared->choice.fallback);
    }
}

static void print_number(const char *name, double user, double lattice, FILE *to) {
    if (!isnan(user) && !isnan(lattice)) {
        fprintf(to, "    %-24s %-14.6g %.6g\n", name, user, lattice);
    }
}

static bool has_lattice_units(const sel_facts *facts) {
    bool any = false;
    for (int i = 0; i < facts->count; i++) {
        any = any || (!*facts->v[i].text && !isnan(facts->v[i].lattice));
    }
    return any;
}

/* Prints dx, dt, reference values and facts in user's and lattice units, if the solver has a
 * lattice and the two differ. If the sides of a cell differ, there is no lattice length. */
static void print_units(const sel_prepared *prepared, const sel_facts *facts, FILE *to) {
    const sel_common *common = prepared->simulation->params;
    const sel_reference *reference = &common->reference;
    const sel_grid *grid = &prepared->domain->grid;
    const double dx = sel_equal_sides(grid) ? grid->dx[0] : (double)NAN, dt = grid->dt;
    const int64_t last_step = sel_stop_step(common);
    if (!has_lattice_units(facts) && last_step != INT64_MAX && dt != 1) {
        fprintf(to, "  %-26s %.6g, after %lld steps\n", "end of the run", (double)last_step * dt,
                (long long)last_step);
    }
    if (!has_lattice_units(facts) || (dx == 1 && dt == 1 && !common->units)) {
        return;
    }
    fprintf(to, "  %-26s %-14s %s\n", "units", "user's", "lattice");
    print_number("dx", dx, 1, to);
    print_number("dt", dt, 1, to);
    print_number("reference length", reference->length, reference->length / dx, to);
    print_number("reference velocity", reference->velocity, reference->velocity * dt / dx, to);
    if (last_step != INT64_MAX) {
        print_number("end of the run", (double)last_step * dt, (double)last_step, to);
    }
    for (int i = 0; i < facts->count; i++) {
        if (!*facts->v[i].text) {
            print_number(facts->v[i].name, facts->v[i].user, facts->v[i].lattice, to);
        }
    }
}

static void print_facts(const sel_prepared *prepared, FILE *to) {
    sel_facts facts = {.count = 0};
    prepared->simulation->solver->facts(prepared->plan, &facts);
    for (int i = 0; i < facts.count; i++) {
        if (*facts.v[i].text) {
            fprintf(to, "  %-26s %s\n", facts.v[i].name, facts.v[i].text);
        }
    }
    print_units(prepared, &facts, to);
}

/* What --regions prints. */
typedef struct region_report {
    sel_census census;
    sel_region_size size[SEL_REGION_NUMBERS];
} region_report;

/* Prints "volume 2144, frontal area 201 x, 201 y, 201 z, wetted area 804", in the user's units. */
static void print_size(const sel_grid *grid, const sel_region_size *size, FILE *to) {
    const bool space = grid->dims == 3;
    fprintf(to, "  %-26s %s %.6g, frontal %s", "", space ? "volume" : "area", size->volume,
            space ? "area" : "length");
    for (int a = 0; a < grid->dims; a++) {
        fprintf(to, "%s %.6g %s", a ? "," : "", size->frontal[a], sel_axis_names[a]);
    }
    if (size->wetted > 0) {
        fprintf(to, ", wetted %s %.6g", space ? "area" : "length", size->wetted);
    }
    fputc('\n', to);
}

/* Prints the cells, and the sites per face, that each region has after all were painted, and how
 * large its cells are together. */
static void print_owned(const sel_domain *domain, const region_report *report, FILE *to) {
    const sel_census *census = &report->census;
    for (int region = 1; region <= domain->region_count; region++) {
        char text[32];
        fprintf(to, "  region %-3d                 %s: %s", region,
                sel_region_name(domain, region, text),
                sel_region_law(&domain->regions[region - 1], 0)->table->name);
        if (census->cells[region]) {
            fprintf(to, ", %lld cells", (long long)census->cells[region]);
        }
        for (int face = 0; face < SEL_FACES; face++) {
            long long sites = (long long)census->sites[face][region];
            if (sites) {
                fprintf(to, ", %lld sites of %s", sites, sel_face_name(face));
            }
        }
        fputc('\n', to);
        if (census->cells[region]) {
            print_size(&domain->grid, &report->size[region], to);
        }
    }
}

/* Prints how many kinds of free cells there are, and how many cells touch boundary faces normal to
 * 0, 1, 2 and 3 axes. */
static void print_places(const sel_domain *domain, const sel_census *census, FILE *to) {
    static const char *const names[] = {"inside", "on a face", "on an edge", "in a corner"};
    const char *between = ": ";
    fprintf(to, "  cell types                 %d", census->count);
    for (int axes = 0; axes <= domain->grid.dims; axes++) {
        long long cells = 0;
        for (int k = 0; k < census->count; k++) {
            cells += census->kinds[k].axes == axes ? (long long)census->kinds[k].cells : 0;
        }
        if (cells) {
            fprintf(to, "%s%lld %s", between, cells, names[axes == domain->grid.dims ? 3 : axes]);
            between = ", ";
        }
    }
    fputc('\n', to);
}

/* Prints a line per kind of free cell: the faces that it touches, with the regions there. */
static void print_kinds(const sel_domain *domain, const sel_census *census, FILE *to) {
    for (int k = 0; k < census->count; k++) {
        const sel_cell_kind *kind = &census->kinds[k];
        const char *between = "";
        fprintf(to, "  %26lld ", (long long)kind->cells);
        for (int face = 0; face < SEL_FACES; face++) {
            char text[32];
            if (kind->region[face]) {
                fprintf(to, "%s%s %s", between, sel_face_name(face),
                        sel_region_name(domain, kind->region[face], text));
                between = ", ";
            }
        }
        fputs(kind->axes ? "\n" : "inside\n", to);
    }
}

enum { MOST_SERIES = 20 };

/* Prints the time range of each series beside that of the run, so that wrong units (hours taken for
 * seconds) become visible. */
static void print_series(const sel_simulation *simulation, int64_t last_step, FILE *to) {
    const sel_lookups *series = simulation->series;
    double end =
        last_step == INT64_MAX ? (double)INFINITY : (double)last_step * simulation->params->dt;
    int more = 0;
    for (int i = 0; series; series = series->next, i++) {
        char text[256];
        const char *name = series->lookup->name;
        if (i >= MOST_SERIES) {
            more++;
            continue;
        }
        sel_series_text(series->lookup, end, text, sizeof text);
        const size_t label = strlen("series ");
        fprintf(to, "  %-26s %s: %s\n", "series",
                strncmp(name, "series ", label) == 0 ? name + label : name, text);
    }
    if (more) {
        fprintf(to, "  %-26s %d more\n", "series", more);
    }
}

/* Prints the units of rasters, as found or assumed. */
static void print_rasters(const sel_simulation *simulation, FILE *to) {
    int i = 0;
    for (const sel_lookups *r = simulation->rasters; r && i < MOST_SERIES; r = r->next) {
        char text[400];
        if (*sel_raster_text(r->lookup, text, sizeof text)) {
            fprintf(to, "  %-26s %s\n", "raster", text);
            i++;
        }
    }
}

static void print_outputs(const sel_plan *plan, int64_t last_step, FILE *to) {
    const sel_list *outputs = &plan->simulation->params->output;
    for (int i = 0; i < outputs->n; i++) {
        char text[512];
        sel_output_forecast(plan, (const sel_variant *)outputs->v + i, last_step, text,
                            sizeof text);
        fprintf(to, "  %-26s %s\n", "output", text);
    }
}

/* Measures the seconds per step over a fraction of a second. Makes no more steps than the run,
 * because laws may not be defined later. If the run may end early (by a hook, or when it is
 * steady), a law that fails only ends the calibration: nothing ends the run here, and a warning has
 * reported the law. */
static sel_status calibrate(const sel_prepared *prepared, sel_state *state, int64_t last_step,
                            double *seconds, sel_error *error) {
    const bool early = sel_may_end_early(prepared->simulation->params);
    sel_error trial = {.status = SEL_OK};
    sel_status status = SEL_OK;
    int64_t steps = 0;
    double before = sel_machine_seconds(), elapsed = 0;
    while (!status && elapsed < calibration_seconds && steps < last_step) {
        int64_t n = steps ? steps : 1;
        n = n < last_step - steps ? n : last_step - steps;
        status = prepared->backend->advance(state, n, false, &trial);
        status = status ? status : sel_backend_wait(prepared->backend, state, &trial);
        if (status == SEL_BAD_SCENARIO && early && steps > 0) {
            status = SEL_OK;
            break;
        }
        steps += n;
        elapsed = sel_machine_seconds() - before;
    }
    *seconds = status || !steps ? 0 : elapsed / (double)steps;
    return status ? sel_fail(error, status, "%s", trial.text) : SEL_OK;
}

/* Durations as in the progress line; in seconds below a minute. */
static void duration(double seconds, char text[SEL_DURATION_ROOM]) {
    if (seconds < 60) {
        snprintf(text, SEL_DURATION_ROOM, "%.2g s", seconds);
    } else {
        sel_duration_text(seconds, text);
    }
}

static void print_time(const sel_prepared *prepared, int64_t last_step, double seconds_per_step,
                       FILE *to) {
    double rate = (double)prepared->domain->free_cells / seconds_per_step;
    if (seconds_per_step > 0) {
        fprintf(to, "  %-26s %.3g Mcells/s (a short calibration)\n", "speed", 1e-6 * rate);
    }
    const double limit = prepared->simulation->params->stop.wall_time;
    char text[SEL_DURATION_ROOM];
    if (last_step != INT64_MAX) {
        duration((double)last_step * seconds_per_step, text);
        fprintf(to, "  %-26s %s%s for %lld steps, outputs aside\n", "time",
                sel_may_end_early(prepared->simulation->params) ? "at most " : "", text,
                (long long)last_step);
    } else if (!isnan(prepared->simulation->params->stop.steady)) {
        fprintf(to, "  %-26s until the flow is steady\n", "time");
    } else if (sel_stops_by_mean(&prepared->simulation->params->stop)) {
        fprintf(to, "  %-26s until the mean changes no more\n", "time");
    }
    if (!isnan(limit)) {
        duration(limit, text);
        fprintf(to, "  %-26s at most %s, by stop.wall_time\n", "wall time", text);
    }
}

static void check_print_all(const sel_prepared *prepared, const region_report *report,
                            int64_t last_step, double seconds_per_step, FILE *to) {
    const sel_simulation *simulation = prepared->simulation;
    const char *name = simulation->params->name;
    fprintf(to, "%s: sel.%s%s%s\n", simulation->script ? simulation->script : "simulation",
            simulation->solver->name, name ? " " : "", name ? name : "");
    check_print_setup(prepared, to);
    print_facts(prepared, to);
    sel_warnings_print(&prepared->warnings, "  ", to);
    char need[SEL_BYTES_ROOM], have[SEL_BYTES_ROOM];
    fprintf(to, "  memory                     %s of %s free\n",
            sel_bytes_text((double)prepared->bytes, need),
            sel_bytes_text((double)prepared->choice.free_bytes, have));
    if (report) {
        print_owned(prepared->domain, report, to);
        print_places(prepared->domain, &report->census, to);
        print_kinds(prepared->domain, &report->census, to);
    }
    print_series(simulation, last_step, to);
    print_rasters(simulation, to);
    print_outputs(prepared->plan, last_step, to);
    print_time(prepared, last_step, seconds_per_step, to);
}

/* ---- several ranks ---- */

/* The model of an exchange: seconds of latency between ranks of one machine (latency_here) and of
 * different machines (latency_between); bandwidth of the network, 100 Gbit/s, in bytes per second.
 * Within a machine a sent byte is read from memory once and written once; the copies in between
 * stay in caches. */
static const double latency_here = 4e-6, latency_between = 5e-6, link_bandwidth = 12.5e9;
/* Between GPUs of a machine joined by NVLink, measured with four H100. */
static const double latency_devices = 1e-5, devices_bandwidth = 3e11;

/* Parallel efficiency: speed of N ranks / (N x speed of one rank), see docs/clusters.md. balance:
 * mean of the ranks' cells / the most of a rank; compute, exchange: seconds of a step. */
static double check_efficiency(double balance, double compute, double exchange) {
    return compute > 0 ? balance * compute / (compute + exchange) : (double)NAN;
}

/* `most`: free cells of the rank with most; `halo`: bytes that a rank sends and receives, together.
 */
static void print_efficiency(const sel_prepared *prepared, int count, int64_t most, uint64_t halo,
                             double seconds_per_step, FILE *to) {
    const int cores = sel_machine_threads(), threads = prepared->plan->threads;
    const double share = fmin((double)cores / count, threads), part = (double)most;
    const double free_cells = (double)prepared->domain->free_cells, sent = 0.5 * (double)halo;
    const double compute = seconds_per_step * part / free_cells;
    const double copies = 2 * count * sent / sel_machine_bandwidth(cores);
    const double balance = free_cells / (count * part);
    const bool device = prepared->backend != prepared->simulation->solver->cpu;
    const double direct = latency_devices + sent / devices_bandwidth;
    const double here =
        device ? check_efficiency(balance, compute, direct)
               : check_efficiency(balance, compute * threads / share, latency_here + copies);
    const double on_the_way = latency_between + (device ? latency_devices : 0);
    const double between = check_efficiency(balance, compute, on_the_way + sent / link_bandwidth);
    fprintf(to, "  %-26s %.0f %% on this machine, %.0f %% on %d joined by 100 Gbit/s (a model)\n",
            "efficiency", 100 * here, 100 * between, count);
}

/* Prints a line per rank, of `count`: its part of the grid, its memory, its halos. */
static sel_status check_print_ranks(sel_prepared *prepared, int count, double seconds_per_step,
                                    FILE *to, sel_error *error) {
    const sel_domain *domain = prepared->domain;
    const int slow = domain->grid.dims - 1;
    const char *axis = sel_axis_names[slow];
    int64_t most = 0;
    sel_decomposition decomposition;
    uint64_t halo_bytes = 0;
    sel_status status = sel_ranks_fit(prepared, count, &decomposition, error);
    for (int r = 0; r < count && !status; r++) {
        const sel_ranks rank = {.rank = r, .count = count, .here = 1};
        char memory[SEL_BYTES_ROOM], halo[SEL_BYTES_ROOM];
        prepared->plan->ranks = &rank;
        const sel_share share = prepared->backend->estimate(prepared->plan);
        prepared->plan->ranks = NULL;
        const sel_patch *own = &share.patch;
        const int64_t free_cells = sel_patch_free(domain, own);
        sel_bytes_text((double)share.memory, memory);
        sel_bytes_text((double)share.halo, halo);
        halo_bytes = share.halo;
        most = free_cells > most ? free_cells : most;
        fprintf(to, "  rank %-21d ", r);
        if (halo_bytes) {
            fprintf(to, "%s from %lld to %lld", axis, (long long)own->lo[slow],
                    (long long)own->hi[slow] - 1);
            if (sel_divides_planes(&decomposition)) {
                fprintf(to, ", y from %lld to %lld", (long long)own->lo[1],
                        (long long)own->hi[1] - 1);
            }
            fprintf(to, ", %lld free, memory %s, halos %s per exchange\n", (long long)free_cells,
                    memory, halo);
        } else {
            fprintf(to, "all of the grid, memory %s: too small to divide\n", memory);
        }
    }
    if (!status && halo_bytes && seconds_per_step > 0) {
        print_efficiency(prepared, count, most, halo_bytes, seconds_per_step, to);
    }
    return status;
}

sel_status sel_check(const sel_simulation *simulation, const sel_settings *settings,
                     const sel_check_wants *wants, FILE *to, sel_error *error) {
    sel_prepared prepared;
    sel_state *state;
    region_report report = {.census = {.count = 0}};
    double seconds_per_step = 0;
    int64_t last_step = sel_stop_step(simulation->params);
    sel_status status = sel_set_up(simulation, settings, &prepared, &state, error);
    status = status ? status : calibrate(&prepared, state, last_step, &seconds_per_step, error);
    if (prepared.backend) {
        prepared.backend->destroy(state);
    }
    if (!status && wants->regions) {
        status = sel_census_take(prepared.domain, &report.census, error);
        status = status ? status : sel_domain_sizes(prepared.domain, report.size, error);
    }
    if (!status) {
        check_print_all(&prepared, wants->regions ? &report : NULL, last_step, seconds_per_step,
                        to);
        status = wants->ranks > 1
                     ? check_print_ranks(&prepared, wants->ranks, seconds_per_step, to, error)
                     : SEL_OK;
        const sel_backend *device = prepared.simulation->solver->cuda;
        if (wants->laws && device && device->print) {
            device->print(prepared.plan, to);
        }
    }
    sel_census_free(&report.census);
    sel_prepared_release(&prepared);
    return status;
}
