/* laws.c -- `selenite check --laws`: print the program of each function of a scenario, or why it
 * has none. */
#include <stdio.h>
#include "lua/commands/commands.h"
#include "lua/functions/functions.h"

static void print_depends(unsigned depends, FILE *to) {
    static const char *const names[] = {"x", "y", "z", "t", "controls"}; /* by bit */
    const char *between = "";
    for (int bit = 0; bit < 5; bit++) {
        if (depends >> bit & 1u) {
            fprintf(to, "%s%s", between, names[bit]);
            between = ", ";
        }
    }
    fputs(*between ? "" : "nothing", to);
}

static void print_unseen(const char *unseen, FILE *to) {
    if (unseen)
        fprintf(to, "  not compared with Lua: %s\n", unseen);
}

static void function_print(const sel_lua_function *f, FILE *to) {
    int controls = f->needs.controls ? f->needs.controls->n : 0;
    const char **names = sel_arena_alloc(f->script->arena, ((size_t)controls + 1) * sizeof *names);
    fprintf(to, "%s:%d: %s, depends on ", f->base.where.file ? f->base.where.file : "script",
            f->base.where.line, f->needs.label);
    if (!f->program) {
        print_depends(f->base.depends, to);
        fprintf(to, "\n  evaluated by Lua: %s\n", f->why);
        return;
    }
    for (int k = 0; names && k < controls; k++)
        names[k] = f->needs.controls->v[k].name;
    print_depends(f->program->depends, to);
    fprintf(to, "\n  %d operations per place, %d once per step, %d registers\n",
            f->program->operations, f->program->layout.once,
            f->program->layout.fixed + f->program->layout.own);
    if (names)
        sel_program_print(f->program, names, to);
    print_unseen(f->unseen, to);
}

void sel_script_print_laws(const sel_scenario *scenario, FILE *to) {
    const sel_script *script = scenario->release_data;
    for (const sel_lua_function *f = script->functions; f; f = f->next)
        function_print(f, to);
    for (const sel_lua_rule *r = script->rules; r; r = r->next) {
        if (r->unseen) {
            fprintf(to, "%s:%d: %s\n", r->base.where.file ? r->base.where.file : "script",
                    r->base.where.line, r->label);
            print_unseen(r->unseen, to);
        }
    }
}
