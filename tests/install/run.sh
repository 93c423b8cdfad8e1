#!/bin/sh
# run.sh -- what `make install` puts in place is complete: a C program builds and runs with it, and
# the scenarios find their files. Prints TAP.
# usage: BUILD=build CC=gcc run.sh; CC may be several words, such as "ccache gcc".
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
case $build in
*-address* | *-undefined* | *-thread*)
    echo "ok install # SKIP programs would need the sanitizer too"
    exit 0
    ;;
esac
if ! command -v pkg-config >/dev/null; then
    echo "ok install # SKIP needs pkg-config"
    exit 0
fi
export PKG_CONFIG_PATH="$place/lib/pkgconfig"
make -s install BUILD="$build" PREFIX="$place" >"$place/log" 2>&1 || cat "$place/log" >&2

# ok NAME COMMAND...
ok() {
    name=$1
    shift
    if "$@" >"$place/log" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name"
        sed 's/^/# /' "$place/log"
    fi
}

embeds() {
    # shellcheck disable=SC2046  # flags are words
    ${CC:-gcc} -std=c11 -D_GNU_SOURCE -o "$place/embed" examples/c/embed.c \
        $(pkg-config --cflags --libs selenite) && "$place/embed" "$place/run" &&
        [ -s "$place/run/vtk.pvd" ]
}

runs_an_example() {
    "$place/bin/selenite" run "$place/share/selenite/examples/12_image.lua" -o "$place/image" --quiet
}

ok "a C program builds with the installed library" embeds
ok "an installed example runs" runs_an_example
