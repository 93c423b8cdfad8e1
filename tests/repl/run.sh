#!/bin/sh
# run.sh -- the prompt: values, statements over lines, mistakes, masks, limits. Prints TAP.
# usage: BUILD=build BACKEND=cpu run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# says LINES TEXT [ARGUMENTS]: what the prompt prints for the lines has the text, a pattern.
says() {
    lines=$1 text=$2
    shift 2
    printf '%b' "$lines" | HOME=$work "$selenite" repl "$@" >"$work/said" 2>&1
    status=$?
    if [ $status != 0 ] || ! grep -q -- "$text" "$work/said"; then
        cat "$work/said"
        return 1
    fi
}

draws_a_mask() {
    rm -f "$work/mask.png"
    says "picture(shape.ball { centre = { 8, 8 }, radius = 4 }, '$work/mask.png', { 16, 16 })\n" '' &&
        od -An -tx1 -j16 -N8 "$work/mask.png" | grep -q '03 20 00 00 03 20'
}

ok "an expression is printed" says '1 + 2\n' '^3$'
ok "names stay from line to line" says 'r = 4\nr * r\n' '^16$'
ok "statements may take several lines" says 'for i = 5, 6 do\nprint(i)\nend\n' '^6$'
ok "a table of a constructor is shown with its name" \
    says 'law.wall { velocity = { 0.1, 0 } }\n' '^law.wall { velocity = { 0.1, 0 } }$'
ok "a mistake is told, and the prompt goes on" says 'shape.ball { 1 }\n7\n' '^7$'
ok "an unknown name is an error" says 'unknown\n' "undeclared global 'unknown'"
ok "a shape as a mask" says 'mask(shape.box { min = { 2, 1 }, max = { 5, 3 } }, { 8, 5 })\n' '^B.aaa..B$'
ok "the regions of a scenario as a mask" says 'mask(sim)\n' 'd expansion' \
    scenarios/sudden_expansion.lua H=16
ok "a parameter of the scenario" says 'sim.size[2]\n' '^24$' scenarios/sudden_expansion.lua H=24
ok "a mask as a picture" draws_a_mask
ok "a line that takes too long ends the script, and the prompt begins afresh" \
    says 'x = 1\nwhile true do end\n2 + 2\n' '^4$' --script-limit 0.5
ok "files cannot be read from the prompt" says 'io\n' "'io' is closed to scenarios"
