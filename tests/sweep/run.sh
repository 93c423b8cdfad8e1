#!/bin/sh
# run.sh -- sweeps: tables, what fails, what is killed, plots, bad words. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
study=tests/sweep/study.lua

sweep() { "$selenite" sweep "$@" --quiet --backend "$backend"; }
# The same as a process of its own, to be sent signals.
sweep_alone() { exec "$selenite" sweep "$@" --quiet --backend "$backend"; }

# runs_in DIR: the processes of runs that write below it.
runs_in() {
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/exe" 2>/dev/null)" = "$selenite" ] &&
            tr '\0' ' ' <"$process/cmdline" | grep -q -- "run .*-o $1/" && echo "${process#/proc/}"
    done
}

# table DIR: sweep.csv without the speed, which is never the same.
table() { sed 's/,[^,]*$//' "$1/sweep.csv"; }

# same A B: tables, and all files of all runs but those that tell of the run.
same() {
    table "$1" >"$work/a" && table "$2" >"$work/b" && diff "$work/a" "$work/b" &&
        diff -r -x run.json -x run.log -x '*.sel' -x sweep.csv -x '*.png' "$1" "$2"
}

rows() { [ "$(grep -c "$2" "$1/sweep.csv")" = "$3" ] || { cat "$1/sweep.csv"; return 1; }; }

makes_a_table() {
    sweep $study steps=400 speed=0.02:0.08:0.02 tau=log:0.6:0.9:2 -o "$work/t" &&
        rows "$work/t" ',done,steps,' 8 && table "$work/t" | head -1 |
        grep -qx 'run,steps,speed,tau,state,stopped_by,reason,steps,time,centre' &&
        grep -q '^"steps=400,speed=0.04,tau=0.9",400,0.04,0.9,' "$work/t/sweep.csv"
}

# Two at a time, and on one thread each: the same bytes as one after the other.
two_at_a_time() {
    sweep $study steps=2000 speed=0.01:0.06:0.01 -o "$work/one" &&
        sweep $study steps=2000 speed=0.01:0.06:0.01 -j 2 --threads 2 -o "$work/two" &&
        same "$work/one" "$work/two"
}

# What has ended is not run again; values that are new are.
goes_on_with_more() {
    sweep $study steps=300 speed=0.02,0.04 -o "$work/m" &&
        before=$(stat -c %Y.%i "$work/m/steps=300,speed=0.02/run.json") &&
        sweep $study steps=300 speed=0.02,0.03,0.04 -o "$work/m" && rows "$work/m" ',done,' 3 &&
        [ "$before" = "$(stat -c %Y.%i "$work/m/steps=300,speed=0.02/run.json")" ]
}

# Runs that are refused, diverge or lack memory are rows with their reason, and stop no other.
failures_are_rows() {
    exits 1 sweep $study steps=3000 end_as=good,refused,diverged,large -o "$work/f" &&
        rows "$work/f" ',good,done,steps,' 1 &&
        rows "$work/f" ',refused,failed,refused,.*study.lua:' 1 &&
        rows "$work/f" ',diverged,failed,diverged,.*step' 1 &&
        rows "$work/f" ',large,failed,refused,.*memory' 1
}

rows_of_a_file() {
    printf '# a study\nspeed, tau\n0.02,0.7\n0.05,0.9\n' >"$work/rows.csv"
    sweep $study --rows "$work/rows.csv" steps=100,200 -o "$work/r" && rows "$work/r" ',done,' 4 &&
        grep -q '^"speed=0.05,tau=0.9,steps=200",0.05,0.9,200,' "$work/r/sweep.csv"
}

draws() {
    sweep $study steps=400 speed=0.02,0.04,0.06 tau=0.7,0.9 -o "$work/p" \
        --plot 'y=centre x=speed by=tau' --plot 'y=middle.csv:velocity_y x=middle.csv:velocity_x' &&
        od -An -tx1 -j16 -N8 "$work/p/centre_over_speed_by_tau.png" | grep -q '03 c0 00 00 02 80' &&
        grep -c '^tau=0.7,' "$work/p/centre_over_speed_by_tau.csv" | grep -qx 3 &&
        [ "$(cut -d, -f1 "$work/p/velocity_y_over_velocity_x.csv" | sort -u | wc -l)" = 7 ]
}

# A name that no run could have is told before the first, one that no run has after it.
plots_are_checked_early() {
    exits 2 sweep $study speed=0.02,0.04 -o "$work/e" --plot 'y=centre x=speed by=tua' 2>"$work/err" &&
        grep 'by=tua is no parameter of this sweep' "$work/err" && [ ! -e "$work/e" ] || return 1
    exits 2 sweep $study steps=100 speed=0.02,0.04,0.06 -j 1 -o "$work/e" --plot 'y=center x=speed' 2>"$work/err" &&
        grep "no parameter or result is called 'center'" "$work/err" &&
        [ "$(find "$work/e" -name run.json | wc -l)" = 1 ]
}

# A result called as a parameter has a column of its own name.
a_result_called_as_a_parameter() {
    sed 's/run:result("centre"/run:result("speed"/' $study >"$work/twice.lua" &&
        sweep "$work/twice.lua" steps=100 speed=0.02,0.04 -o "$work/twice" &&
        table "$work/twice" | head -1 | grep -qx 'run,steps,speed,state,stopped_by,reason,steps,time,results.speed'
}

# 32 runs; the sweep is killed at random times, and so are single runs, until it comes to its end.
survives_kills() {
    sweep $study speed=0.01:0.165:0.005 tau=0.8 -o "$work/straight" || return 1
    kills=0
    while [ $kills -lt 14 ]; do
        sweep_alone $study speed=0.01:0.165:0.005 tau=0.8 -j 2 -o "$work/killed" &
        pid=$!
        sleep "0.$((1 + kills * 37 % 9))"
        if [ $((kills % 2)) = 0 ]; then
            runs_in "$work/killed" | head -1 | xargs -r kill -9
            sleep 0.3
        fi
        kill -9 $pid
        wait $pid
        kills=$((kills + 1))
    done 2>/dev/null
    sweep $study speed=0.01:0.165:0.005 tau=0.8 -j 2 -o "$work/killed" &&
        rows "$work/killed" ',done,' 32 && same "$work/straight" "$work/killed"
}

# Ctrl-C ends all runs in order, and the next call goes on.
is_interrupted() {
    sweep_alone $study speed=0.1,0.2 steps=400000 -j 2 -o "$work/i" &
    pid=$!
    sleep 0.7
    kill -INT $pid
    wait $pid
    [ $? = 130 ] || return 1
    grep -q '"stopped_by": "interrupted"' "$work/i/speed=0.1,steps=400000/run.json" &&
        [ -z "$(runs_in "$work/i")" ] && sweep $study speed=0.1,0.2 steps=400000 -j 2 -o "$work/i" &&
        rows "$work/i" ',done,steps,' 2
}

# told WORDS... : status 2, and the last argument in the message.
told() {
    for text; do :; done
    exits 2 sweep $study "$1" -o "$work/bad" >"$work/said" 2>&1
    grep -q -- "$text" "$work/said" || { cat "$work/said"; return 1; }
}

another_script() {
    cp $study "$work/s.lua" && sweep "$work/s.lua" steps=50,60 -o "$work/s" &&
        echo '-- changed' >>"$work/s.lua" &&
        exits 2 sweep "$work/s.lua" steps=50,60 -o "$work/s" &&
        sweep "$work/s.lua" steps=50,60 -o "$work/s" --force
}

tells_how_far_it_is() {
    "$selenite" run $study steps=4000000 -o "$work/u" --quiet --backend "$backend" 2>"$work/told" &
    pid=$!
    sleep 1
    kill -USR1 $pid
    sleep 0.6
    kill -INT $pid
    wait $pid
    grep -q 'step [0-9]*/4000000, .* left' "$work/told"
}

# Cells in quotes, a mark of the byte order, rows that are alike, names that are none.
reads_rows_of_other_programs() {
    printf '\357\273\277steps,end_as\r\n20,"good"\r\n30, good\r\n' >"$work/r.csv"
    sweep $study --rows "$work/r.csv" -o "$work/q" && rows "$work/q" ',good,done,steps,' 2 &&
        printf 'steps\n20\n20\n' >"$work/r.csv" &&
        exits 2 sweep $study --rows "$work/r.csv" -o "$work/q2" &&
        printf 'steps,\n20,1\n' >"$work/r.csv" &&
        exits 2 sweep $study --rows "$work/r.csv" -o "$work/q3"
}

# Of a table the messages have the line.
tells_the_line_of_a_bad_row() {
    printf '# a study\nsteps,tau\n20,0.7\n\n30,\n' >"$work/b.csv"
    exits 2 sweep $study --rows "$work/b.csv" -o "$work/b" 2>"$work/said" &&
        grep -q "b.csv:5: .*tau must be a number, got ''" "$work/said" &&
        printf 'steps;tau\n20;0.7\n' >"$work/b.csv" &&
        exits 2 sweep $study --rows "$work/b.csv" -o "$work/b" 2>"$work/said" &&
        grep "b.csv:1: 'steps;tau': cells stand between commas, not semicolons" "$work/said"
}

refuses_a_list() {
    cat >"$work/list.lua" <<END
local sel = require "selenite"
local p = sel.params { speed = { 0.1, "of the lid" } }
local one, two = sel.load("$PWD/$study", { steps = 5 }), sel.load("$PWD/$study", { steps = 6 })
one.name, two.name = "one", "two"
return { one, two }
END
    exits 1 sweep "$work/list.lua" speed=0.1,0.2 -o "$work/l" &&
        rows "$work/l" ',failed,refused,the scenario returns a list' 2
}

# Zeros on a logarithmic axis are left out of the curve.
leaves_zeros_out() {
    timeout 20 "$selenite" sweep $study steps=50 speed=0,0.05,0.1 --quiet --backend "$backend" \
        -o "$work/z" --plot 'y=centre x=speed log=xy' && [ -s "$work/z/centre_over_speed.png" ]
}

# A small flow with texts as a parameter and as the name of a result.
cat >"$work/texts.lua" <<'END'
local sel = require "selenite"
local p = sel.params { n = { 8, "cells", integer = true }, tag = { "a", "text" }, offset = { 0, "of the result" } }
return sel.lbm {
  lattice = "D2Q9", size = { p.n, p.n }, tau = 0.8, periodic = { "x", "y" }, stop = { steps = 2 },
  output = { sel.out.balance {} },
  hooks = { { at = "end", call = function(run)
    run:result('the "mass", \\ all', p.n + p.offset)
    run:result("=2+2", -1.5)
  end } },
}
END
texts() { sweep "$work/texts.lua" "$@"; }

# refused DIR TEXT ARGUMENTS...: the sweep into DIR ends before a run, and says so.
refused() {
    into=$1 text=$2
    shift 2
    texts -o "$into" "$@" 2>"$work/said"
    status=$?
    [ $status != 0 ] && grep -q -- "$text" "$work/said" && [ ! -e "$into/n=8/run.json" ] &&
        [ "$(cat "$work/mine")" = 'my own' ] && return
    cat "$work/said"
    return 1
}

# What a link of a name that the sweep writes leads to stays as it is.
writes_through_no_link() {
    echo 'my own' >"$work/mine"
    mkdir "$work/far"
    for file in n=8.log sweep.csv sweep.csv.tmp sweep.lock n=8 mass_over_n.csv mass_over_n.png; do
        rm -rf "$work/links"
        mkdir "$work/links"
        to=$work/mine
        [ $file != n=8 ] || to=$work/far
        ln -s "$to" "$work/links/$file"
        refused "$work/links" "$file.* is a link" n=8 --plot 'y=mass x=n' || return 1
    done
    rmdir "$work/far" && rm -rf "$work/links" && mkdir "$work/links" &&
        ln -s missing "$work/links/n=8.log" && refused "$work/links" 'n=8.log is a link' n=8
}

# Nor is what others have laid there replaced, with --force or without.
replaces_no_file_of_others() {
    for file in n=8.log sweep.csv mass_over_n.csv mass_over_n.png n=8/balance.csv n=8/run.lua; do
        for force in '' --force; do
            rm -rf "$work/others"
            mkdir -p "$work/others/n=8"
            echo 'my own' >"$work/others/$file"
            # shellcheck disable=SC2086  # nothing, or one word
            refused "$work/others" "$file is there and is no\|holds files that no run" n=8 \
                --plot 'y=mass x=n' $force || return 1
            [ "$(cat "$work/others/$file")" = 'my own' ] || return 1
        done
    done
}

# --force is for what a run of this script has left: not for runs of another.
forces_runs_of_its_script() {
    texts n=8,9 -o "$work/forced" && echo '-- changed' >>"$work/texts.lua" &&
        texts n=8,9 -o "$work/forced" --force && rows "$work/forced" ',done,' 2 &&
        cmp "$work/texts.lua" "$work/forced/n=8/run.lua" && rm -rf "$work/forced" &&
        "$selenite" run $study steps=20 --quiet --backend "$backend" -o "$work/forced/n=8" &&
        exits 2 texts n=8 --force -o "$work/forced" && cmp $study "$work/forced/n=8/run.lua"
}

# What was killed between its first two files is taken for a run of the script.
goes_on_after_the_first_files() {
    mkdir -p "$work/begun/n=8" "$work/begun/n=9" && cp "$work/texts.lua" "$work/begun/n=8/run.lua" &&
        head -c 20 "$work/texts.lua" >"$work/begun/n=9/run.lua.tmp" &&
        texts n=8,9 -o "$work/begun" && rows "$work/begun" ',done,' 2
}

reads_regular_files_only() {
    mkdir -p "$work/fifo/n=8" && mkfifo "$work/fifo/n=8/run.json" "$work/fifo.csv" || return 1
    exits 4 timeout 20 "$selenite" sweep "$work/texts.lua" n=8 -o "$work/fifo" --quiet \
        --backend "$backend" 2>"$work/said" && grep 'run.json: is not a regular file' "$work/said" &&
        exits 4 timeout 20 "$selenite" sweep "$work/texts.lua" --rows "$work/fifo.csv" --quiet \
            -o "$work/fifo" 2>"$work/said" && grep 'fifo.csv: is not a regular file' "$work/said"
}

# As texts behind a '; numbers stay numbers.
formulas_are_texts() {
    printf 'tag,offset\n=2+2,-1\n@SUM(1),0\n+1 a,1e-3\n"-""q"",",2\n-5,3\n' >"$work/formulas.csv"
    texts --rows "$work/formulas.csv" -o "$work/formulas" || return 1
    for cells in "\"'=2+2\",-1" "\"'@SUM(1)\",0" "\"'+1 a\",1e-3" "\"'-\"\"q\"\",\",2" '-5,3' "\"'=2+2\""; do
        grep -qF ",$cells," "$work/formulas/sweep.csv" || { cat "$work/formulas/sweep.csv"; return 1; }
    done
    grep -q ',-1.5,' "$work/formulas/sweep.csv"
}

names_with_quotes() {
    texts n=8,9 -o "$work/quotes" --plot 'y==2+2 x=n' &&
        head -1 "$work/quotes/sweep.csv" | grep -qF ',"the ""mass"", \ all",' &&
        grep -q '^n=9,9,done,.*,9,' "$work/quotes/sweep.csv" &&
        printf 'n,"tag"\n8,"two ""quoted"", words"\n9,"of\ntwo lines"\n' >"$work/quotes.csv" &&
        texts --rows "$work/quotes.csv" -o "$work/quotes2" && rows "$work/quotes2" ',done,' 2 &&
        grep -qF ',8,"two ""quoted"", words",done,' "$work/quotes2/sweep.csv" &&
        printf 'n,tag\n8,"open\n' >"$work/quotes.csv" &&
        exits 2 texts --rows "$work/quotes.csv" -o "$work/quotes3" 2>"$work/said" &&
        grep 'quotes.csv:2: a cell in quotes must end' "$work/said"
}

# The log of a run begins with its command, and tells why it failed.
tells_in_a_log() {
    exits 1 sweep $study steps=3000 end_as=good,refused -o "$work/logs" 2>/dev/null &&
        head -1 "$work/logs/steps=3000,end_as=refused.log" | grep "^selenite run $study steps=3000" &&
        sed -n 2p "$work/logs/steps=3000,end_as=refused.log" | grep 'study.lua:' &&
        [ ! -e "$work/logs/steps=3000,end_as=good.log" ]
}

ok "names of plots are checked early" plots_are_checked_early
ok "a result called as a parameter" a_result_called_as_a_parameter
ok "a run for each combination, a row for each run" makes_a_table
ok "two runs at a time give the same bytes as one" two_at_a_time
ok "called again with more values only the new ones run" goes_on_with_more
ok "what fails is a row with its reason" failures_are_rows
ok "rows of a file, for each of other values" rows_of_a_file
ok "results and files of runs are drawn" draws
ok "kill -9 of the sweep and of runs: the same table and files" survives_kills
ok "an interrupt ends all runs, and the next call goes on" is_interrupted
ok "runs of another script are not taken for its own" another_script
ok "a range of two numbers" told speed=0.1:0.2 "'0.1:0.2' should be from:to:step"
ok "a step that leads nowhere" told speed=0.1:0.2:-1 "steps of -1 do not lead"
ok "a step of 0" told speed=0.1:0.2:0 "the step must not be 0"
ok "a logarithmic range from 0" told speed=log:0:1:4 "from and to must be above 0"
ok "a value twice" told speed=0.1,0.1 "'0.1' stands there twice"
ok "no value" told speed=0.1,,0.2 "a value is missing"
ok "an unknown name" told sped=0.1,0.2 "did you mean 'speed'"
ok "a value that is out of bounds" told speed=0.1,0.9 "speed must be"
ok "a plot whose list of results ends with a comma" exits 2 sweep $study speed=0.1 -o "$work/bad" \
    --plot 'y=centre, x=speed'
ok "a long run tells how far it is when it is asked" tells_how_far_it_is
ok "rows with quotes and a byte order mark; rows alike are refused" reads_rows_of_other_programs
ok "a bad row is told with its line" tells_the_line_of_a_bad_row
ok "a list of simulations is refused" refuses_a_list
ok "zeros on a logarithmic axis are left out" leaves_zeros_out
ok "nothing is written through a link" writes_through_no_link
ok "files of others are not replaced" replaces_no_file_of_others
ok "what a run of the script has left is written over by --force, and nothing else" \
    forces_runs_of_its_script
ok "a run that was killed at its first files goes on" goes_on_after_the_first_files
ok "what is no regular file is not read" reads_regular_files_only
ok "formulas are texts in the table" formulas_are_texts
ok "names and cells with quotes" names_with_quotes
ok "the log of a run begins with its command" tells_in_a_log
