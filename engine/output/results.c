/* results.c -- named numbers of a run, for run.json's `results`. */
#include "engine/output/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sel_result *find_result(const sel_results *results, const char *name) {
    for (int i = 0; i < results->count; i++) {
        if (strcmp(results->v[i].name, name) == 0) {
            return &results->v[i];
        }
    }
    return NULL;
}

sel_status sel_results_set(sel_results *results, const char *name, double value, sel_error *error) {
    struct sel_result *result = find_result(results, name);
    if (!result && results->count == results->capacity) {
        int capacity = 2 * results->capacity + 16;
        size_t bytes = (size_t)capacity * sizeof *results->v;
        struct sel_result *v = realloc(results->v, bytes);
        if (!v) {
            return sel_fail_memory(error, "the results", bytes);
        }
        results->v = v;
        results->capacity = capacity;
    }
    if (!result) {
        result = &results->v[results->count++];
        snprintf(result->name, sizeof result->name, "%s", name);
    }
    result->value = value;
    return SEL_OK;
}

void sel_results_free(sel_results *results) {
    free(results->v);
    *results = (sel_results){.count = 0};
}
