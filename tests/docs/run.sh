#!/bin/sh
# run.sh -- the tutorial, the page on Python and the README's scenario do what they say; pages that
# are written from data are up to date; links lead somewhere. Prints TAP.
# usage: BUILD=build PYTHON=/usr/bin/python3 run.sh
# The commands and programs of the documents run one after the other in one empty folder; what they
# print is compared with the document.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
python=${PYTHON:-/usr/bin/python3}
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! "$python" -c 'import numpy, vtkmodules.vtkIOXML' 2>/dev/null; then
    echo "not ok - $python has no VTK or no numpy: install python3-vtk9 and python3-numpy (make test does)"
    exit 1
fi
cd "$work" || exit 1
PATH=$build:$PATH
PYTHONDONTWRITEBYTECODE=1 "$python" "$root/tests/docs/documents.py" "$root/README.md" \
    "$root/docs/tutorial.md" "$root/docs/python.md" || echo "not ok - all blocks are as they say"

# ok NAME COMMAND...: one test, passed when the command succeeds.
ok() {
    name=$1
    shift
    if "$@" >log 2>&1; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        sed 's/^/# /' log
    fi
}

a_misspelt_field_has_the_message_shown() {
    shown=$(grep -o "channel.lua:[0-9]*: stop: unknown field 'stpes'.*" "$root/README.md")
    sed -i 's/steps = /stpes = /' channel.lua
    [ -n "$shown" ] || { echo "README.md shows no message"; return 1; }
    if selenite check channel.lua >said 2>&1; then
        echo "no error"
        return 1
    fi
    cat said
    grep -qFx "$shown" said
}

# In a copy: a report of `validate` is taken over, and what no longer agrees with the data is told.
reports_become_pages() {
    mkdir -p copy/bench && cp -r "$root/tools" "$root/docs" "$root/README.md" copy &&
        cp -r "$root/bench/results" copy/bench &&
        selenite validate couette --backend cpu -o report &&
        sed -i 's/"date": "[^"]*"/"date": "2901-02-03T04:05:06Z"/' report/results.json &&
        "$python" copy/tools/results.py --validation report/results.json &&
        "$python" copy/tools/results.py --check &&
        grep '^| \[couette\](#couette) | 2 | 2 | 2901-02-03 |' copy/docs/results.md || return 1
    sed -i 's/"updates_per_second": 23056e6/"updates_per_second": 24056e6/' copy/bench/results/published.json
    "$python" copy/tools/results.py --check >said && return 1
    cat said
    [ "$(grep -c 'run make results' said)" = 2 ] && grep '^README.md' said && grep '^docs/performance.md' said
}

ok "python.md: read gives the places of cells and of nodes" \
    "$python" "$root/tests/docs/read_layouts.py" "$root/docs/python.md" "$build/selenite"
ok "README.md: the scenario is right" selenite check channel.lua
ok "README.md: a misspelt field has the message shown" a_misspelt_field_has_the_message_shown
ok "README.md has at most 150 lines" [ "$(wc -l <"$root/README.md")" -le 150 ]
ok "results.md, performance.md and README.md agree with bench/results" "$python" "$root/tools/results.py" --check
ok "reports of validate become pages, and stale pages are told" reports_become_pages
ok "links between documents lead somewhere" \
    "$python" "$root/tests/docs/links.py" "$root"/*.md "$root"/docs/*.md "$root"/scenarios/*.md
