#!/bin/sh
# run.sh -- what the program says about itself: help, man page, completions, and when it is quiet.
# Prints TAP.
# usage: BUILD=build run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# says ARGUMENTS -- TEXT...: help succeeds and its lines contain each text.
says() {
    arguments=
    while [ "$1" != -- ]; do
        arguments="$arguments $1"
        shift
    done
    shift
    # shellcheck disable=SC2086  # arguments are words
    "$selenite" $arguments >"$work/text" 2>"$work/err" || return 1
    for text; do
        grep -F -e "$text" "$work/text" || { echo "missing: $text"; cat "$work/text"; return 1; }
    done
}

# refuses STATUS TEXT ARGUMENTS...: that exit status, and standard error is this text alone.
refuses() {
    status=$1 text=$2
    shift 2
    "$selenite" "$@" >"$work/text" 2>"$work/err"
    got=$?
    echo "exit status $got: $(cat "$work/err")"
    [ "$got" = "$status" ] && [ ! -s "$work/text" ] && [ "$(cat "$work/err")" = "$text" ]
}

a_solver_shows_the_fields_of_its_results() {
    says help lbm -- 'Fields of the results of sel.lbm' '  velocity     vector; length/time (SI: m/s)' \
        '  pressure     number; density length^2/time^2 (SI: Pa)' '  q_criterion ' '  stress  ' &&
        says help aqua -- '  depth        number; m' '  arrival_time number; s' '  max_level ' &&
        says help level -- 'A field of the results of sel.aqua:' 'law.level' &&
        says help velocity_x -- '  velocity     vector' &&
        says help -- '  sel.aqua         ground depth level max_depth max_level arrival_time'
}

# "sel" has no table of its own: what the library gives is listed, with its line.
help_knows_all_that_a_script_can_call() {
    cat >"$work/members.lua" <<'LUA'
for name, value in pairs(require "selenite") do
  if type(value) == "function" then print("sel." .. name) end
end
LUA
    "$selenite" check "$work/members.lua" 2>&1 | sed -n '/^sel\./p' >"$work/members"
    grep -x sel.ramp "$work/members" || return 1
    while read -r name; do
        says help "$name" -- "$name" && says help -- "  $name " || return 1
    done <"$work/members"
}

# A field without a unit or a sentence would be seen as "; " or an empty cell.
# shellcheck disable=SC2016  # the backquotes are Markdown's
the_reference_has_every_field() {
    "$selenite" help --reference >"$work/text" &&
        grep -F '| `velocity` | vector | length/time (SI: m/s) | Velocity of the fluid. |' "$work/text" &&
        grep -F '| `arrival_time` | number | s | Time of' "$work/text" &&
        ! grep '|  *|' "$work/text"
}

help_knows_commands_and_options() {
    says help run -- 'selenite run FILE|- [name=value ...] [options]' '  --force ' '  --quiet ' &&
        ! grep -e --laws "$work/text" &&
        says help check -- '  --laws ' && says help bench -- '  --only PATTERN ' &&
        says help validate -- '  -o DIR ' && says help info -- 'selenite info' &&
        says help help -- 'selenite help [NAME]' &&
        says help --threads -- 'An option of run, check, sweep, validate, bench.' &&
        says check --help -- '  --regions ' && ! grep -e --force "$work/text" &&
        says bench -h -- 'selenite bench'
}

# Words that name nothing in a script: where the thing is, or what to take instead.
help_knows_words_of_the_trades() {
    says help stl -- 'shape.mesh {' && says help STL -- 'shape.mesh {' && says help step -- 'export triangles' &&
        says help restart -- '--resume' && says help permeability -- 'no porous medium' &&
        says help roughness -- 'sel.aqua has no friction coefficient' &&
        says help viscosity -- 'nu of sel.lbm' && says help turbulence -- 'smagorinsky' &&
        says help cfl -- 'dt of the solver' && says help drag -- 'out.force' &&
        says help windows -- 'WSL' && says help paraview -- 'out.vtk'
}

# What an answer refers to as `help NAME` is there, and each word has one answer.
answers_lead_somewhere() {
    sed -n '/^    {"/,/},$/p' engine/app/topics.c | grep -o 'help [a-z][a-z.]*[a-z]' | sort -u >"$work/named"
    grep -q 'help vtk' "$work/named" || return 1
    while read -r words; do
        # shellcheck disable=SC2086  # two words
        "$selenite" $words >"$work/text" || return 1
    done <"$work/named"
    sed -n 's/^    {"\([^"]*\)",.*/\1/p' engine/app/topics.c | tr ' ' '\n' >"$work/words"
    [ "$(wc -l <"$work/words")" -gt 200 ] && [ -z "$(sort "$work/words" | uniq -d)" ]
}

help_knows_fields_of_tables() {
    says help smagorinsky -- 'A field of sel.lbm:' 'eddy viscosity' &&
        says help acceleration -- 'A field of sel.lbm:'
}

help_knows_families() {
    says help law -- '  law.outflow ' '  law.level ' 'What holds on a region of sel.aqua.' &&
        says help out -- '  out.vtk ' '  out.grid ' &&
        says help shape -- '  shape.ball ' '  shape.face ' && says help sel -- '  sel.lbm ' '  sel.paint '
}

lines_fit_a_terminal() {
    "$selenite" help >"$work/text" && "$selenite" help lbm >>"$work/text" &&
        "$selenite" help force >>"$work/text" && "$selenite" help run >>"$work/text" &&
        awk 'length($0) > 96 || / $/ { print; bad = 1 } END { exit bad }' "$work/text"
}

what_to_type_is_said() {
    refuses 2 "'scenarios/couette.lua' is a file, and a command comes first: selenite run scenarios/couette.lua" \
        scenarios/couette.lua &&
        refuses 2 "'my.lua' is a file, and a command comes first: selenite run my.lua" my.lua &&
        refuses 2 "unknown command 'hlep'; did you mean 'help'? (see selenite help)" hlep &&
        refuses 2 "help knows no 'velocty'; did you mean 'velocity'? (\`selenite help\` lists all names; docs/limits.md says what Selenite does not do)" \
            help velocty &&
        refuses 2 "--completion must be bash or zsh, got 'fish'" help --completion fish
}

the_man_page_is_what_the_tables_give() {
    "$selenite" help --man | diff docs/selenite.1 -
}

the_man_page_is_well_formed() {
    groff -man -Tascii -P-cbou -ww docs/selenite.1 >"$work/text" 2>"$work/err" &&
        [ ! -s "$work/err" ] &&
        for option in --backend --script-limit --quiet -o; do
            grep -e "$option" "$work/text" || return 1
        done
}

# completes WORDS...: what bash offers for the last word, one a line, into the file "offers".
completes() {
    bash -c '
        . "$1"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _selenite "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$work/completion" "$@" >"$work/offers"
}

# offers TEXT: the offers, joined by blanks.
offers() { [ "$(sort "$work/offers" | tr '\n' ' ')" = "$1 " ] || { cat "$work/offers"; return 1; }; }

bash_completes() {
    "$selenite" help --completion bash >"$work/completion" &&
        completes "$selenite" ch && offers check &&
        completes "$selenite" run --fo && offers --force &&
        completes "$selenite" check --fo && offers '' &&
        completes "$selenite" run --backend c && offers 'cpu cuda' &&
        completes "$selenite" run --backend cpu --threads 2 scenarios/couette. &&
        offers scenarios/couette.lua &&
        completes "$selenite" run --backend cpu scenarios/couette.lua ta && offers tau= &&
        completes "$selenite" help law.v && offers law.velocity &&
        completes "$selenite" help --completion z && offers zsh &&
        { ! command -v shellcheck || shellcheck -s bash "$work/completion"; }
}

# In a terminal of its own: what zsh makes of a line after Tab.
zsh_completes() {
    mkdir -p "$work/zsh" && "$selenite" help --completion zsh >"$work/zsh/_selenite" &&
        ln -sf "$selenite" "$work/zsh/selenite" || return 1
    cat >"$work/script.zsh" <<'END'
zmodload zsh/zpty
# completed FOLDER TEXT: prints the line that zsh makes of TEXT and Tab, in a shell of its own.
completed() {
  rm -f $1/line $1/ready
  cat >$1/rc <<RC
PS1=
fpath=($1 \$fpath) path=($1 \$path)
autoload -Uz compinit && compinit -u -D
complete-and-tell() { zle complete-word; print -r -- "LINE<\$BUFFER>" >$1/line }
zle -N complete-and-tell
bindkey '^X' complete-and-tell
: >$1/ready
RC
  zpty -b shell zsh -f -i
  zpty -w shell "source $1/rc"
  for i in {1..100}; do [[ -e $1/ready ]] && break; sleep 0.05; done
  sleep 0.2
  zpty -w -n shell $2$'\x18'
  for i in {1..100}; do [[ -s $1/line ]] && break; sleep 0.05; done
  zpty -d shell
  cat $1/line
}
for text in 'selenite ch' 'selenite run --fo' 'selenite run --backend cu' 'selenite help law.vel' \
            'selenite run scenarios/couette.' 'selenite run scenarios/couette.lua ta'; do
  completed $1 $text
done
END
    timeout 60 zsh -f "$work/script.zsh" "$work/zsh" >"$work/offers" 2>&1
    cat >"$work/expected" <<'END'
LINE<selenite check >
LINE<selenite run --force >
LINE<selenite run --backend cuda >
LINE<selenite help law.velocity >
LINE<selenite run scenarios/couette.lua >
LINE<selenite run scenarios/couette.lua tau=>
END
    diff "$work/expected" "$work/offers"
}

# A note of a function that Lua evaluates, a warning, a line of a hook, progress and summary.
cat >"$work/talks.lua" <<'LUA'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 16, 8 }, tau = 3,
  regions = {
    { where = shape.face "x-", law = law.velocity { function(y, t)
      return tostring(y) == "x" and t or 0.01, 0
    end } },
    { where = shape.face "x+", law = law.pressure { 0 } },
    { where = shape.rest, law = law.wall {} },
  },
  hooks = { { at = "end", call = function(run) run:log "seen" end } },
  stop = { steps = 10 },
}
LUA

quiet_is_quiet() {
    "$selenite" run "$work/talks.lua" -o "$work/talks" --backend cpu 2>"$work/err" &&
        for text in note: warning: 'running on' 'seen' 'after 10 steps'; do
            grep -e "$text" "$work/err" || return 1
        done
    "$selenite" run "$work/talks.lua" -o "$work/quiet" --quiet >"$work/text" 2>&1 &&
        [ ! -s "$work/text" ] && grep '"warnings": \["tau' "$work/quiet/run.json" &&
        refuses 2 "unknown parameter 'G'; the scenario has H, U, tau, collision" \
            run scenarios/couette.lua G=3 --quiet
}

ok "help knows all that a script can call" help_knows_all_that_a_script_can_call
ok "a solver shows the fields of its results" a_solver_shows_the_fields_of_its_results
ok "the reference has every field" the_reference_has_every_field
ok "help knows commands and options" help_knows_commands_and_options
ok "help knows families" help_knows_families
ok "help knows words of the trades" help_knows_words_of_the_trades
ok "answers of help lead somewhere" answers_lead_somewhere
ok "help knows fields of tables" help_knows_fields_of_tables
ok "lines fit a terminal" lines_fit_a_terminal
ok "what to type is said" what_to_type_is_said
ok "the man page is what the tables give (make annotations)" the_man_page_is_what_the_tables_give
if command -v groff >/dev/null; then
    ok "the man page is well formed" the_man_page_is_well_formed
else
    echo "ok the man page is well formed # SKIP needs groff"
fi
if command -v bash >/dev/null; then
    ok "bash completes" bash_completes
else
    echo "ok bash completes # SKIP needs bash"
fi
if command -v zsh >/dev/null; then
    ok "zsh completes" zsh_completes
else
    echo "ok zsh completes # SKIP needs zsh"
fi
ok "quiet is quiet" quiet_is_quiet
