# shellcheck shell=sh
# tap.sh -- what scripts of tests share: a program to test, a folder to work in, tests as TAP.
# Sourced in the root of the repository, with BUILD and BACKEND from tests/run.sh.
build=$(cd "${BUILD:-build}" && pwd)
selenite=$build/selenite
backend=${BACKEND:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ok NAME COMMAND...: one test, passed when the command succeeds. NAMES: a pattern (grep -E) of them.
ok() {
    name=$1
    shift
    echo "$name" | grep -qE -e "${NAMES:-}" || return 0
    if "$@" >"$work/log" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name"
        sed 's/^/# /' "$work/log"
    fi
}

# exits STATUS COMMAND...: succeeds when the command ends with that status.
exits() {
    expected=$1
    shift
    "$@"
    got=$?
    [ "$got" = "$expected" ] || { echo "exit status $got, expected $expected"; return 1; }
}

run() { "$selenite" run "$@" --quiet --backend "$backend"; }

# json FILE KEY: a top-level value of run.json.
json() { sed -n "s/^  \"$2\": \(.*[^,]\),*$/\1/p" "$1"; }
