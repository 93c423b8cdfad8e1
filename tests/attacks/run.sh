#!/bin/sh
# run.sh -- scenarios that attack the reader of functions: what it has alone reaches no script, and
# what a script changes changes nothing of Selenite's own. Prints TAP.
# usage: BUILD=build ATTACKS=60 FIRST=1 run.sh
#   ATTACKS   how many drawn by lot (tests/fuzz/attacks.py), from number FIRST on
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
export SELENITE_CC=none # that of rules takes longer than they do

# prints TEXT SCENARIO: a run ends well and prints the line.
prints() {
    "$selenite" run "$2" -o "$work/out" --force --backend cpu --threads 1 >"$work/said" 2>&1 &&
        grep -qxF -- "$1" "$work/said" && return
    cat "$work/said"
    return 1
}

# fails_in_lua NUMBER: no node of that number is forged.
fails_in_lua() {
    exits 1 "$selenite" check tests/attacks/forged_number.lua n="$1" >"$work/said" 2>&1 &&
        grep -q 'forged_number.lua:[0-9]*: attempt to perform arithmetic on a nil value' "$work/said" &&
        return
    cat "$work/said"
    return 1
}

ok "numbers of nodes cannot be forged: -3" fails_in_lua -3
ok "numbers of nodes cannot be forged: 100000000" fails_in_lua 100000000
ok "functions of the reader cannot be forged" prints 'refused	kept' tests/attacks/forged_function.lua
ok "no metamethod sees what is the reader's" prints 'LEAKS:	' tests/attacks/metamethods.lua
ok "scenarios drawn by lot" "${PYTHON:-/usr/bin/python3}" tests/fuzz/attacks.py "$selenite" \
    "$work/attacks" "${ATTACKS:-60}" "${FIRST:-1}"
