#!/bin/sh
# paraview.sh -- Debian 12's ParaView, with the current libexpat, reads the VTK writer's files.
# usage: sudo tests/fresh/paraview.sh   (minutes; about 350 MB to download, 2 GB of disk)
# Works in a fresh chroot, because ParaView's Python conflicts with VTK's. Prints TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tests=$(dirname "$here")
# shellcheck source=tests/fresh/chroot.sh
. "$here/chroot.sh"

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
