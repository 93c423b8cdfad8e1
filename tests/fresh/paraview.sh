#!/bin/sh
# paraview.sh -- Debian 12's ParaView, with the current libexpat, reads the VTK writer's files.
# usage: sudo tests/fresh/paraview.sh   (minutes; about 350 MB to download, 2 GB of disk)
# Works in a fresh chroot, because ParaView's Python conflicts with VTK's. Prints TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tests=$(dirname "$here")

stop() {
    echo "Bail out! $1"
    exit 1
}

[ "$(id -u)" = 0 ] || stop "a chroot needs root: sudo make test-paraview"
command -v debootstrap >/dev/null || stop "debootstrap is missing: apt-get install debootstrap"
codename=$(sed -n "s/^VERSION_CODENAME=//p" /etc/os-release)
[ "$codename" = bookworm ] || stop "this test takes its packages from Debian 12's own sources"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/selenite-paraview-XXXXXX") || stop "no temporary directory"
root=$work/root
log=$work/log
clean() {
    umount -l "$root/proc" 2>/dev/null
    rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

# The log names the machine's package mirror, which concerns nobody.
failed_at() {
    tail -n 20 "$log" | sed 's|[a-z]*://[^ ]*|URL|g; s/^/# /'
    stop "$1 failed"
}

# The first mirror of the machine's own sources, in either of apt's formats.
mirror() {
    cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '/^URIs:/ {print $2; exit}'
    awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) {print $i; exit}}' \
        /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null
}

in_chroot() {
    chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

debootstrap --variant=minbase bookworm "$root" "$(mirror | head -n 1)" >"$log" 2>&1 ||
    failed_at debootstrap
rm -f "$root/etc/apt/sources.list"
cp -r /etc/apt/sources.list.d /etc/apt/trusted.gpg.d "$root/etc/apt/"
[ ! -f /etc/apt/sources.list ] || cp /etc/apt/sources.list "$root/etc/apt/"
mount -t proc proc "$root/proc" || stop "cannot mount proc in the chroot"
in_chroot apt-get -qq update >"$log" 2>&1 || failed_at "apt-get update"
in_chroot apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io \
    gcc libc6-dev zlib1g-dev paraview python3-paraview libexpat1 >"$log" 2>&1 ||
    failed_at "installing ParaView"
# shellcheck disable=SC2016  # dpkg-query fills these in
in_chroot dpkg-query -W -f '# ${Package} ${Version}\n' paraview libexpat1

mkdir -p "$root/selenite/tests/vtk" "$root/selenite/engine/io" "$root/files"
cp "$tests"/vtk/*.c "$tests"/vtk/*.py "$root/selenite/tests/vtk/"
cp "$tests/../engine/io/vtk_writer.h" "$root/selenite/engine/io/"
in_chroot gcc -std=c11 -O2 -I/selenite -o /write_files /selenite/tests/vtk/write_files.c -lz \
    >"$log" 2>&1 || failed_at "compiling write_files.c"
in_chroot /write_files /files || stop "writing the files failed"

# ParaView ends with status 0 whatever happened, so that the TAP plan tells whether it got through.
in_chroot pvpython /selenite/tests/vtk/read_in_paraview.py /files >"$work/tap" 2>"$log"
cat "$work/tap"
grep -q '^1\.\.' "$work/tap" || failed_at "pvpython"
! grep -q '^not ok' "$work/tap"
