#!/bin/sh
# run.sh -- scripts that must fail: each NAME.lua with the exact message and exit status of NAME.txt.
# A first line `-- args: run ...` in the script replaces the command `check`. NAME.cuda is what a GPU
# says, where it is not NAME.txt.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")" || exit 1
case ${BUILD:-build} in
/*) program=$BUILD/selenite ;;
*) program=../../${BUILD:-build}/selenite ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
backend=${BACKEND:-cpu}
failed=0

# One script: the exit status on the first line, then what goes to standard error.
for expected in *.txt; do
    name=${expected%.txt}
    if [ "$backend" = cuda ] && grep -q 'B of memory' "$expected"; then
        echo "ok $name # SKIP a device tells of its own memory"
        continue
    fi
    [ "$backend" = cuda ] && [ -f "$name.cuda" ] && expected=$name.cuda
    script=$name.lua
    command='check @'
    if [ -f "$script" ]; then
        given=$(sed -n '1s/^-- args: //p' "$script")
        command=${given:-$command}
    fi
    case $command in *--backend*) ;; *) command="$command --backend $backend" ;; esac
    command=$(echo "$command" | sed "s|@|$script|; s|OUT|$work/$name|")
    # The command is words without blanks inside: they are to be split.
    # shellcheck disable=SC2086
    timeout 900 "$program" $command >/dev/null 2>"$work/err"
    echo $? >"$work/got"
    # How much memory is free depends on the machine.
    sed 's|[0-9.]* [kMGT]B are free; [0-9.e+]* cells|N are free; N cells|' "$work/err" >>"$work/got"
    if cmp -s "$work/got" "$expected"; then
        echo "ok $name"
    else
        echo "not ok $name"
        diff "$expected" "$work/got" | sed 's/^/# /'
        failed=1
    fi
done
exit $failed
