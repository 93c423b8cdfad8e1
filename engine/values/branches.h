/* branches.h -- the conditions of a function's graph: which of their sides were taken, and a search
 * for numbers with which the others are.
 *
 * A side is taken where a result depends on it: a condition inside another one only counts where
 * the outer one leads to it. How far numbers are from a side is measured by the differences of what
 * is compared, summed over all conditions that lead there; the search makes it smaller by changing
 * one input at a time (Korel's method of alternating variables).
 */
#ifndef SEL_BRANCHES_H
#define SEL_BRANCHES_H

#include "engine/values/rule.h"

typedef struct sel_branches sel_branches;

/* `graph`, and `field`, the fields that it reads (NULL: none), must live as long. NULL: there is no
 * memory. */
sel_branches *sel_branches_create(const sel_rule *graph, const sel_cell_field *field);
void sel_branches_destroy(sel_branches *branches);

/* What the graph is computed from, as nodes: arguments, fields of cells, draws of sel.random. */
int sel_branches_inputs(const sel_branches *branches);
const sel_rule_node *sel_branches_input(const sel_branches *branches, int k);

/* What an input is called: "c.n", "x", a control by its name. */
void sel_branches_name(const sel_branches *branches, int k, const char *const *control_names,
                       char *text, size_t size);

/* Evaluates the graph with these inputs, and notes which sides are taken. */
void sel_branches_visit(sel_branches *branches, const double *inputs);

/* The value of a node where the graph was evaluated last. */
double sel_branches_value(const sel_branches *branches, int node);

/* Looks for inputs that take the next side which none has taken; starts from those visited, and
 * tries also the numbers `value`. False: there is no other side, or no more may be done. True
 * without *found: this one was not reached. */
bool sel_branches_search(sel_branches *branches, const double *value, int count, double *inputs,
                         bool *found);

/* The sides that were not taken, one after the other from *at = 0 on: "c.n == 3 was never true".
 * False: there is no other. Controls by their names. */
bool sel_branches_untaken(const sel_branches *branches, int *at, const char *const *control_names,
                          char *text, size_t size);

#endif
