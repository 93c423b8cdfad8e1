#!/bin/sh
# run.sh -- selenite as a process: wall time, signals, descriptors, what it opens. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

cat >"$work/endless.lua" <<'LUA'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 64, 64 }, nu = 0.05,
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
  stop = { steps = 1000000000 },
  output = { sel.out.vtk { fields = { "velocity" } } },
}
LUA

# Long before its steps are done, in order, as a run that is finished.
wall_time_ends_a_run() {
    sed 's/stop = {/stop = { wall_time = 0.5,/' "$work/endless.lua" >"$work/limited.lua"
    run "$work/limited.lua" -o "$work/limited" &&
        [ "$(json "$work/limited/run.json" stopped_by)" = '"wall_time"' ] &&
        json "$work/limited/run.json" wall_seconds | awk '{ print; exit !($1 >= 0.5 && $1 < 60) }' &&
        ls "$work"/limited/vtk/vtk_*.vti &&
        "$selenite" check "$work/limited.lua" --backend "$backend" >"$work/text" &&
        grep 'wall time *at most 0.5 s, by stop.wall_time' "$work/text"
}

# In SI, and in cells and steps: 0.2 m/s are 0.05 cells per step of 0.3125 ms.
check_prints_both_units() {
    cat >"$work/units.lua" <<'END'
local sel = require "selenite"
local u = sel.units { length = 0.05, cells = 40, velocity = 0.2, viscosity = 1e-5, density = 1000 }
return sel.lbm {
  lattice = "D2Q9", size = u.cells { 0.1, 0.05 }, units = u, stop = { time = 1 },
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
}
END
    "$selenite" check "$work/units.lua" --backend "$backend" >"$work/text"
    sed -n '/^  units/p; /^    [a-z]/p' "$work/text" >"$work/columns"
    diff - "$work/columns" <<'END'
  units                      user's         lattice
    dx                       0.00125        1
    dt                       0.0003125      1
    reference length         0.05           40
    reference velocity       0.2            0.05
    end of the run           1              3200
    viscosity nu             1e-05          0.002
    density                  1000           1
    largest velocity given   0.2            0.05
    its dynamic pressure     20             0.00125
END
}

# A cell of 1 mm and a step of a second: a velocity of 1 m/s would be 1,000 cells per step.
dx_without_dt_is_warned_of() {
    sed 's/nu = 0.05,/nu = 1e-6, dx = 0.001,/; s/steps = [0-9]*/steps = 1/' "$work/endless.lua" \
        >"$work/cells.lua"
    "$selenite" check "$work/cells.lua" --backend "$backend" >"$work/text" &&
        grep 'warning: .*cells.lua:3: dx is given and dt is not: dt is 1, .* is 1e+03 in lattice' \
            "$work/text" &&
        sed 's/dx = 0.001/dx = 0.001, dt = 1/' "$work/cells.lua" >"$work/steps.lua" &&
        "$selenite" check "$work/steps.lua" --backend "$backend" >"$work/text" &&
        ! grep 'dt is not' "$work/text"
}

# interrupted SIGNAL SECONDS COMMAND...: the signal after so many seconds ends it with status 130, also
# where tests are run by nohup, under which programs leave SIGHUP alone.
interrupted() {
    signal=$1 after=$2
    shift 2
    env --default-signal=HUP "$@" >"$work/text" 2>&1 &
    sleep "$after"
    kill -"$signal" $! || { cat "$work/text"; return 1; }
    begun=$(date +%s)
    wait $!
    status=$?
    cat "$work/text"
    exits 130 sh -c "exit $status" && [ $(($(date +%s) - begun)) -le 3 ]
}

# A loop in Lua, and one in C that no hook of Lua's sees.
signals_end_a_script() {
    echo 'while true do end' >"$work/loop.lua"
    echo 'string.rep("a", 2^20):find(string.rep("a?", 40) .. string.rep("a*", 40) .. "b")' \
        >"$work/pattern.lua"
    for signal in INT TERM HUP; do
        interrupted $signal 0.5 "$selenite" check "$work/loop.lua" --trust || return 1
    done
    interrupted INT 0.5 "$selenite" run "$work/pattern.lua" --trust -o "$work/pattern" &&
        [ ! -e "$work/pattern" ] && mkfifo "$work/script" &&
        interrupted TERM 0.5 sh -c "exec '$selenite' check - <>'$work/script'"
}

# 4 million cells by Lua, minutes long; no folder is left behind.
signals_end_a_set_up() {
    cat >"$work/slow.lua" <<'END'
local sel = require "selenite"
local names = setmetatable({}, { __index = function() return 0 end })
return sel.lbm {
  lattice = "D2Q9", size = { 2000, 2000 }, nu = 0.1, periodic = { "x", "y" },
  initial = { velocity = function(x, y)
    local v = 0
    for i = 1, 200 do v = v + names[x] end
    return v, 0
  end },
  stop = { steps = 1 },
}
END
    interrupted INT 1 "$selenite" run "$work/slow.lua" -o "$work/slow" && [ ! -e "$work/slow" ] &&
        interrupted TERM 1 "$selenite" check "$work/slow.lua"
}

signals_end_bench_and_validate() {
    interrupted INT 1 "$selenite" bench --backend "$backend" &&
        interrupted TERM 1 "$selenite" validate cavity2d -o "$work/validate" --backend "$backend"
}

# One signal ends a hook that does not return, whatever it does, also where --trust lifts the limits.
signal_ends_a_hook() {
    cat >"$work/hook.lua" <<'END'
local sel = require "selenite"
local p = sel.params { body = "" }
local body = load("local run = ... " .. p.body)
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, nu = 0.1, periodic = { "x", "y" }, stop = { steps = 1e9 },
  hooks = { { every = 4, call = function(run) if run.step == 4 then run:log "in" body(run) end end } },
}
END
    for body in 'while true do end' 'while true do run:reduce("density", "sum") end' \
        'while true do pcall(error) end' 'coroutine.wrap(function() while true do end end)()'; do
        rm -f "$work/text" # what the run before has said
        "$selenite" run "$work/hook.lua" body="$body" --trust --force -o "$work/hook" \
            --backend "$backend" >"$work/text" 2>&1 &
        until grep -qx in "$work/text" 2>/dev/null || ! kill -0 $!; do sleep 0.1; done
        kill -"$1" $!
        begun=$(date +%s)
        if exits 130 wait $! && [ $(($(date +%s) - begun)) -le 60 ] &&
            [ "$(json "$work/hook/run.json" stopped_by)" = '"interrupted"' ] &&
            grep 'a hook did not end within a second of a signal' "$work/hook/run.json"; then
            continue
        fi
        echo "body: $body, after $(($(date +%s) - begun)) s"
        cat "$work/text"
        return 1
    done
}

# ends_in_order NAME SIGNAL: a run under way writes its last state.
ends_in_order() {
    env --default-signal=HUP "$selenite" run "$work/endless.lua" -o "$work/$1" --quiet --backend "$backend" &
    for _ in $(seq 100); do # a device may take seconds to wake
        [ -e "$work/$1/run.json" ] && break
        sleep 0.2
    done
    sleep 0.5
    kill -"$2" $!
    wait $!
    exits 130 sh -c "exit $?" && ls "$work/$1"/vtk/vtk_*.vti &&
        [ "$(json "$work/$1/run.json" stopped_by)" = '"interrupted"' ]
}

nohup_is_kept() {
    sed 's/stop = {/stop = { wall_time = 2,/' "$work/endless.lua" >"$work/kept.lua"
    (
        trap '' HUP
        exec "$selenite" run "$work/kept.lua" -o "$work/nohup" --quiet --backend "$backend"
    ) &
    sleep 1
    kill -HUP $!
    wait $!
    exits 0 sh -c "exit $?" && [ "$(json "$work/nohup/run.json" stopped_by)" = '"wall_time"' ]
}

# Warnings and notes go to nowhere, not into the first file that the run opens.
closed_descriptors_write_into_no_file() {
    cat >"$work/noisy.lua" <<'END'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 16, 8 }, nu = 0.1, periodic = { "x", "y" },
  stop = { steps = 4 }, output = { sel.out.balance { every = 2 } },
  hooks = { { every = 1, call = function(run) run:log "heard" end } },
}
END
    for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
        sh -c "'$selenite' run '$work/noisy.lua' --force --json -o '$work/noisy' $closed" \
            >/dev/null 2>"$work/said" || return 1
        cat "$work/noisy/balance.csv"
        [ "$(grep -c '^step,time,' "$work/noisy/balance.csv")" = 1 ] &&
            [ "$(grep -c '^[024],' "$work/noisy/balance.csv")" = 3 ] &&
            [ "$(grep -c . "$work/noisy/balance.csv")" = 4 ] || return 1
    done
}

# refuses_to_read TEXT PATH...: a scenario that reads a file by `TEXT` refuses each path at once.
refuses_to_read() {
    text=$1
    shift
    printf 'local sel = require "selenite"\n%s\n' "$text" >"$work/reads.lua"
    for path in "$@"; do
        ln -sfn "$path" "$work/input$suffix"
        timeout 60 "$selenite" check "$work/reads.lua" >"$work/text" 2>&1
        exits 4 sh -c "exit $?" && grep "reads.lua:2: .*is not a regular file" "$work/text" || return 1
    done
}

only_regular_files_are_read() {
    mkfifo "$work/fifo"
    set -- "$work/fifo" /dev/zero /proc/kmsg /proc/version "$work"
    for scenario in "$@"; do
        exits 4 timeout 60 "$selenite" check "$scenario" >"$work/text" 2>&1 &&
            grep 'is not a regular file' "$work/text" || return 1
    done
    suffix=.lua
    refuses_to_read 'sel.load "input.lua"' "$@" && refuses_to_read 'require "input"' "$@" || return 1
    suffix=.csv
    refuses_to_read 'sel.series "input.csv"' "$@" || return 1
    for suffix in .asc .tif .png; do
        refuses_to_read "sel.raster 'input$suffix'" "$@" || return 1
    done
    suffix=.png
    refuses_to_read 'return sel.lbm { lattice = "D2Q9", size = { 4, 4 }, tau = 1, stop = { steps = 1 }, '`
        `'regions = { { where = sel.shape.image "input.png", law = sel.law.wall {} } } }' "$@"
}

# A reader that stops early is no error, a full disk is.
output_that_is_lost_is_told() {
    for arguments in 'check examples/01_lid.lua' help info; do
        # shellcheck disable=SC2086  # arguments are words
        exits 4 "$selenite" $arguments >/dev/full 2>"$work/text" &&
            grep -x 'standard output could not be written' "$work/text" || return 1
    done
    { "$selenite" help; echo $? >"$work/status"; } | true
    [ "$(cat "$work/status")" = 0 ]
}

# shellcheck disable=SC3045  # dash and bash know ulimit -s
small_stack_is_an_error() {
    for size in 64 128 256; do
        for arguments in 'check examples/01_lid.lua' "run examples/01_lid.lua -o $work/small" help; do
            # shellcheck disable=SC2086  # arguments are words
            (ulimit -s $size && exits 5 "$selenite" $arguments 2>"$work/text") &&
                grep 'stack is limited to less than 512 KiB' "$work/text" &&
                [ "$(wc -l <"$work/text")" = 1 ] && [ ! -e "$work/small" ] || return 1
        done
    done
    (ulimit -s 512 && exits 0 "$selenite" check examples/01_lid.lua)
}

cat >"$work/rule.lua" <<'LUA'
local sel = require "selenite"
return sel.rule {
  size = { 64, 64 }, periodic = { "x", "y" }, state = { u = "real" }, initial = { u = 1 },
  rule = function(c) return 0.5 * (c(1, 0).u + c(-1, 0).u) end, stop = { steps = 10 },
}
LUA
mkdir "$work/lazy"
printf '#!/bin/sh\nsleep 600\n' >"$work/lazy/cc"
chmod +x "$work/lazy/cc"

# However a run ends that waits for the compiler, nothing is left in the folder of code.
compiler_is_not_left() {
    rm -rf "$work/cache" "$work/compiled"
    XDG_CACHE_HOME=$work/cache SELENITE_CC=$work/lazy/cc \
        "$selenite" run "$work/rule.lua" --quiet --backend cpu -o "$work/compiled" &
    run=$!
    until ls "$work"/cache/selenite/job.*/text.c >/dev/null 2>&1; do sleep 0.05; done
    sleep 0.2
    kill "-$1" $run
    wait $run
    for _ in $(seq 200); do
        [ "$(ls "$work/cache/selenite")" ] || return 0
        sleep 0.1
    done
    ls -R "$work/cache/selenite"
    return 1
}

# A parent may have had SIGCHLD ignored.
compiler_works_without_sigchld() {
    rm -rf "$work/cache" "$work/compiled"
    (
        trap '' CHLD
        exec env XDG_CACHE_HOME="$work/cache" SELENITE_CC=cc \
            "$selenite" run "$work/rule.lua" --quiet --backend cpu -o "$work/compiled"
    ) && [ "$(find "$work/cache/selenite" -mindepth 1 | grep -c '\.so$')" = 1 ] &&
        [ "$(find "$work/cache/selenite" -mindepth 1 | wc -l)" = 1 ]
}

ok "stop.wall_time ends a run in order" wall_time_ends_a_run
for signal in TERM INT KILL; do
    ok "a compiler is not left behind by SIG$signal" compiler_is_not_left $signal
done
ok "machine code is made where SIGCHLD is ignored" compiler_works_without_sigchld
ok "check prints the user's and the lattice's units" check_prints_both_units
ok "dx without dt is warned of" dx_without_dt_is_warned_of
ok "a signal ends a script at once" signals_end_a_script
ok "a signal ends a set-up at once" signals_end_a_set_up
ok "a signal ends bench and validate at once" signals_end_bench_and_validate
ok "SIGINT ends a hook that does not return" signal_ends_a_hook INT
ok "SIGTERM ends a hook that does not return" signal_ends_a_hook TERM
ok "SIGTERM ends a run in order" ends_in_order terminated TERM
ok "SIGHUP ends a run in order" ends_in_order hung_up HUP
ok "SIGHUP that is ignored stays so" nohup_is_kept
ok "messages of closed descriptors reach no file" closed_descriptors_write_into_no_file
ok "only regular files are read" only_regular_files_are_read
ok "a stack that is too small is one error" small_stack_is_an_error
ok "output that is lost is told" output_that_is_lost_is_told
