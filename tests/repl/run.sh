#!/bin/sh
# run.sh -- the prompt: values, statements over lines, data, checks of tables, help, masks, limits.
# Prints TAP.
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

# keeps_quiet LINES: what is typed is right, and the prompt says nothing but what it is worth.
keeps_quiet() {
    says "$1" '' || return 1
    ! grep -E '^line [0-9]+: ' "$work/said"
}

# draws_a_mask LINES: also behind these.
draws_a_mask() {
    rm -f "$work/mask.png"
    says "$1picture(shape.ball { centre = { 8, 8 }, radius = 4 }, '$work/mask.png', { 16, 16 })\n" '' &&
        od -An -tx1 -j16 -N8 "$work/mask.png" | grep -q '03 20 00 00 03 20'
}

# A file that is no picture stays, and so does what a link leads to; a picture is drawn anew.
replaces_pictures_only() {
    ball='shape.ball { centre = { 8, 8 }, radius = 4 }'
    echo 'my own' >"$work/mine" && ln -sf mine "$work/link.png" &&
        says "picture($ball, '$work/mine', { 16, 16 })\n" 'mine is there and is no PNG picture; move it away' &&
        says "picture($ball, '$work/link.png', { 16, 16 })\n" 'link.png is a link' &&
        [ "$(cat "$work/mine")" = 'my own' ] && draws_a_mask '' &&
        cp "$work/mine" "$work/mask.png.tmp" &&
        says "picture($ball, '$work/mask.png', { 16, 16 })\n" 'mask.png.tmp is there' &&
        rm "$work/mask.png.tmp" && before=$(stat -c %i "$work/mask.png") &&
        says "picture($ball, '$work/mask.png', { 8, 8 })\n" '' &&
        [ "$before" != "$(stat -c %i "$work/mask.png")" ] && : >"$work/empty.png" &&
        says "picture($ball, '$work/empty.png', { 8, 8 })\n" '' && [ -s "$work/empty.png" ]
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
ok "a mask as a picture" draws_a_mask ''
ok "changed libraries change nothing of the prompt" draws_a_mask \
    'for _, l in ipairs { string, math, table } do for k in pairs(l) do l[k] = function() return 99999 end end end\n'
ok "a picture takes the place of a picture only" replaces_pictures_only
ok "a picture's path with a zero byte" \
    says "x = picture(shape.rest, '$work/a.png\\\\0b')\n" 'line 1: picture: the path must not hold a zero byte'
ok "a line that takes too long ends the script, and the prompt begins afresh" \
    says 'x = 1\nwhile true do end\n2 + 2\n' '^4$' --script-limit 0.5
ok "files cannot be read from the prompt" says 'io\n' "'io' is closed to scenarios"

ok "a lattice from units" says 'u = sel.units { length = 1, cells = 10 }\nu.dx\n' '^0.1$'
ok "a series can be made and called" \
    says 's = sel.series { t = { 0, 1 }, value = { 1, 2 } }\ns(0.5)\n' '^1.5$'
ok "a raster is read, relative to the working directory" \
    says 'r = sel.raster "tests/bad/image_broken.png"\n5\n' "^line 1: sel.raster: tests/bad/image_broken.png:"
ok "a painted quantity" \
    keeps_quiet 'p = sel.paint { 1, { shape.ball { centre = { 4, 4 }, radius = 3 }, 2 } }\n'
ok "another scenario is loaded" \
    says 'load = sel.load("scenarios/sudden_expansion.lua", { H = 16 })\nload.size[2]\n' '^16$'
ok "parameters may be declared, and again" \
    says 'p = sel.params { n = 3 }\np = sel.params { n = 4 }\np.n\n' '^4$'
ok "a mistake in data ends a line, and no more" \
    says 'k = 7\nsel.series { t = { 0, 1 } }\nk\n' '^7$'
ok "a mistake in data is told with its line" \
    says '\nsel.series { t = { 0, 1 } }\n' '^line 2: sel.series: 2 times in t, but 0 values in value$'
ok "a local is kept for the lines that follow" \
    says 'local N = 8\nlocal function twice(x) return 2 * x end\ntwice(N)\n' '^16$'

heat='sel.heat { size = { 8, 8 }, diffusivity = 1, stop = { steps = 1 }'
ok "the table of a solver is checked" says "$heat, perodic = { 'x' } }\n" \
    "^line 1: sel.heat: unknown field 'perodic'; did you mean 'periodic'?$"
ok "a table with a name is checked, with the line of the field" \
    says 's = sel.heat {\n  size = { 8, 8 }, diffusivity = 1,\n  stop = { stps = 1 } }\n' \
    "^line 3: stop: unknown field 'stps'; did you mean 'steps'?$"
ok "a table is checked as before a run" says "$heat }\n" '^line 1: face x-: no region paints 8'
ok "a right table gets no message" keeps_quiet "$heat, periodic = { 'x', 'y' } }\n"
ok "picture names the order of its arguments" \
    says "picture(shape.ball { centre = { 8, 8 }, radius = 4 }, { 16, 16 }, 'm.png')\n" \
    '^picture(shape or sim, "mask.png", size): the path comes second, a text$'
ok "a law is checked alone" says 'law.fixed { temperatur = 3 }\n' \
    "^line 1: law.fixed: unknown field 'temperatur'; did you mean 'temperature'?$"
ok "a law of any solver, and of controls not known yet, is right" \
    keeps_quiet 'law.wall {}\nlaw.fixed { 1 }\nlaw.velocity { function(x, y, t, gust) return gust, 0 end }\n'
ok "an output is checked alone" says 'out.vtk { field = "speed" }\n' \
    "^line 1: out.vtk: unknown field 'field'; did you mean 'fields'?$"
ok "a shape is checked alone" says 'shape.ball { radius = 3 }\n' '^line 1: shape.ball: centre is required'
ok "check says what a scenario means" says "check($heat, periodic = { 'x', 'y' } })\n" '^  diffusivity  *1$'
ok "help lists names" says 'help\n' '^  sel.lbm  '
ok "help of a name" says 'help law.slip\n' '^law.slip$'
ok "help of a constructor" says 'help(law.slip)\n' '^law.slip$'
ok "help of an unknown name" says 'help spped\n' "^help knows no 'spped'; did you mean 'speed'?"
