/* branches.h -- branch coverage of a function's graph: which sides of its conditions were taken,
 * and a search for inputs that take the others.
 *
 * A side (true or false) of a condition counts as taken only if a result depends on it: a nested
 * condition counts only where the outer one leads to it. The distance of an input from a side is
 * the sum of the differences of the compared numbers, over all conditions that lead there. The
 * search minimizes it by changing one input at a time (alternating variable method: B. Korel,
 * Automated software test data generation, IEEE Trans. Software Eng. 16, 1990).
 */
#ifndef SEL_BRANCHES_H
#define SEL_BRANCHES_H

#include "engine/values/rule.h"

typedef struct sel_branches sel_branches;

/* `graph` and `field`, the fields that it reads (NULL: it reads none), must outlive the result.
 * NULL: there is no memory. */
sel_branches *sel_branches_create(const sel_rule *graph, const sel_cell_field *field);
void sel_branches_destroy(sel_branches *branches);

/* The inputs of the graph, as nodes: arguments, fields of cells, draws of sel.random. */
int sel_branches_inputs(const sel_branches *branches);
const sel_rule_node *sel_branches_input(const sel_branches *branches, int k);

/* The name of input k: "c.n", "x", or the name of a control. */
void sel_branches_name(const sel_branches *branches, int k, const char *const *control_names,
                       char *text, size_t size);

/* Evaluates the graph with inputs[sel_branches_inputs], and notes which sides are taken. */
void sel_branches_visit(sel_branches *branches, const double *inputs);

/* The value of a node in the latest evaluation. */
double sel_branches_value(const sel_branches *branches, int node);

/* Searches for inputs that take the next side not taken so far. Starts from inputs that were
 * visited, and also tries the numbers value[count]. True: a side was searched for; *found: it was
 * reached, by `inputs`. False: no side is left, or the limit on work is reached. */
bool sel_branches_search(sel_branches *branches, const double *value, int count, double *inputs,
                         bool *found);

/* Describes the next side that was not taken: "c.n == 3 was never true". To be called from *at = 0
 * on, which is advanced. False: there is no other. */
bool sel_branches_untaken(const sel_branches *branches, int *at, const char *const *control_names,
                          char *text, size_t size);

#endif
