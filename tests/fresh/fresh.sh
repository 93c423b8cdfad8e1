#!/bin/sh
# fresh.sh -- make demo and make test from a clean clone on a bare Debian 12. Prints TAP.
# usage: sudo tests/fresh/fresh.sh [PACKAGE ...]   (minutes; about 150 MB to download, 1 GB of disk)
#   PACKAGE   what was installed there before, such as openmpi-bin, mpich or paraview, with all that
#             Debian recommends beside it
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/fresh/chroot.sh
. "$here/chroot.sh"

in_chroot apt-get install -y --no-install-recommends make git >"$log" 2>&1 ||
    failed_at "installing make and git"
if [ $# != 0 ]; then
    in_chroot apt-get install -y -o Dpkg::Options::=--force-unsafe-io "$@" >"$log" 2>&1 || failed_at "installing $*"
fi
git clone -q --no-hardlinks "$here/../.." "$root/selenite" || stop "git clone failed"
chown -R 0:0 "$root/selenite"

for target in demo test; do
    start=$(date +%s)
    if in_chroot make -C /selenite "$target" >"$log" 2>&1; then
        echo "ok make $target on a bare Debian${*:+ with $*}, $(($(date +%s) - start)) s with the packages"
        tail -n 3 "$log" | sed 's/^/# /'
    else
        echo "not ok make $target on a bare Debian${*:+ with $*}"
        grep -A5 '^not ok' "$log" | sed 's/^/# /'
        failed_at "make $target"
    fi
    # Again from nothing, with the packages there: this is what a user waits for.
    start=$(date +%s)
    in_chroot make -C /selenite clean >/dev/null
    if in_chroot make -C /selenite "$target" >"$log" 2>&1; then
        echo "ok make $target with the packages there, $(($(date +%s) - start)) s"
    else
        echo "not ok make $target with the packages there"
        grep -A5 '^not ok' "$log" | sed 's/^/# /'
    fi
done
echo "1..4"
