#!/bin/sh
# run.sh -- scripts that must fail, each with its exact message and exit status: TOPIC.txt has the cases of
# a topic (their form: split.sh). A first line `-- args: run ...` in a script replaces the command `check`.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
tests/bad/split.sh "$work/tests/bad" || exit 1
ln -s "$PWD/scenarios" "$work/scenarios"
cd "$work/tests/bad" || exit 1

# fails_as_expected NAME EXPECTED
fails_as_expected() {
    script=$1.lua
    command='check @'
    if [ -f "$script" ]; then
        given=$(sed -n '1s/^-- args: //p' "$script")
        command=${given:-$command}
    fi
    case $command in *--backend*) ;; *) command="$command --backend $backend" ;; esac
    command=$(echo "$command" | sed "s|@|$script|; s|OUT|$work/$1|")
    # The command is words without blanks inside: they are to be split.
    # shellcheck disable=SC2086
    timeout 900 "$selenite" $command >/dev/null 2>"$work/err"
    echo $? >"$work/got"
    # How much memory is free depends on the machine.
    sed 's|[0-9.]* [kMGT]B are free; [0-9.e+]* cells|N are free; N cells|' "$work/err" >>"$work/got"
    diff "$2" "$work/got"
}

for expected in *.expected; do
    name=${expected%.expected}
    if [ "$backend" = cuda ] && grep -q 'B of memory' "$expected"; then
        echo "ok $name # SKIP a device tells of its own memory"
        continue
    fi
    [ "$backend" = cuda ] && [ -f "$name.cuda" ] && expected=$name.cuda
    ok "$name" fails_as_expected "$name" "$expected"
done
