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

# verdict NAME FOUND: one test, passed when nothing has been found.
verdict() { ok "$1" nothing "$2"; }
nothing() { [ -z "$1" ] || { echo "$1"; return 1; }; }

# exits STATUS COMMAND...: succeeds when the command ends with that status.
exits() {
    expected=$1
    shift
    "$@"
    got=$?
    [ "$got" = "$expected" ] || { echo "exit status $got, expected $expected"; return 1; }
}

run() { "$selenite" run "$@" --quiet --backend "$backend"; }

# find_open_mpi: mpirun is Open MPI's from here on, also where the system's is another's. Fails where
# the build or the machine has no Open MPI.
find_open_mpi() {
    launchers=$work/launchers
    mkdir -p "$launchers"
    ! command -v mpirun.openmpi >/dev/null || ln -s "$(command -v mpirun.openmpi)" "$launchers/mpirun"
    PATH=$launchers:$PATH
    [ -e "$build/selenite_openmpi.so" ] && mpirun --version 2>/dev/null | grep -q 'Open MPI'
}

# ending STOP SCENARIO [PARAMETERS]: a scenario with an end of its own, on standard output.
ending() {
    printf 'local scenario = require "selenite".load("%s"%s)\nscenario.stop = { %s }\nreturn scenario\n' \
        "$PWD/$2" "${3:+, { $3 \}}" "$1"
}

# json FILE KEY: a top-level value of run.json.
json() { sed -n "s/^  \"$2\": \(.*[^,]\),*$/\1/p" "$1"; }

# same A B [EXCEPT]: all files of two runs, but for what tells of the run and those called EXCEPT;
# and all that run.json says of the result.
same() {
    diff -r -x run.json -x run.log -x run.lua ${3:+-x "$3"} "$1" "$2" &&
        "${PYTHON:-/usr/bin/python3}" - "$1" "$2" "${3:-}" <<'END'
import fnmatch, json, sys
one, other = (json.load(open(d + "/run.json")) for d in sys.argv[1:3])
for run in one, other:
    run["outputs"] = [f for f in run["outputs"] if not fnmatch.fnmatch(f, sys.argv[3])]
for key in ("steps", "time", "stopped_by", "stop_reason", "steady_measure", "mean_change", "largest_mach",
            "mass_drift",
            "results", "outputs", "warnings"):
    assert one[key] == other[key], (key, one[key], other[key])
END
}
