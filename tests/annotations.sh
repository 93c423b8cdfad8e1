#!/bin/sh
# annotations.sh -- lua/meta/selenite.lua is what the field lists give.
set -u
top=$(dirname "$0")/..
case ${BUILD:-build} in
/*) program=$BUILD/selenite ;;
*) program=$top/${BUILD:-build}/selenite ;;
esac
if "$program" help --annotations | diff "$top/lua/meta/selenite.lua" - >&2; then
    echo "ok the annotations agree with the field lists"
else
    echo "not ok the annotations agree with the field lists"
    echo "# run make annotations"
    exit 1
fi
