#!/bin/sh
# setup.sh -- see that what a target needs is there; on Debian and Ubuntu, install what is missing.
# usage: tools/setup.sh run|test|lint
set -eu

# One line per need: package, and a command that succeeds when it is there. A compiler may be called
# by several words, such as 'ccache gcc'.
# shellcheck disable=SC2016  # the probes are expanded when they run
needs() {
    echo 'gcc ${CC:-gcc} --version'
    echo 'libc6-dev test -e /usr/include/stdio.h'
    echo 'liblua5.4-dev test -e /usr/include/lua5.4/lua.h || pkg-config --exists lua5.4'
    echo 'zlib1g-dev test -e /usr/include/zlib.h || pkg-config --exists zlib'
    echo 'libpng-dev test -e /usr/include/png.h || pkg-config --exists libpng'
    echo 'libtiff-dev test -n "$(ls /usr/include/tiffio.h /usr/include/*/tiffio.h 2>/dev/null)" || pkg-config --exists libtiff-4'
    if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
        echo 'g++ ${CUDA_HOST_CXX:-g++} --version'
    else
        echo 'g++ command -v g++ || test -e "$(${CC:-gcc} -print-file-name=libstdc++.a)"'
    fi
    case $1 in
    test)
        echo 'pkg-config command -v pkg-config'
        echo 'libcmocka-dev test -e /usr/include/cmocka.h || pkg-config --exists cmocka'
        echo 'python3 test -x "${PYTHON:-/usr/bin/python3}"'
        echo 'gdal-bin command -v gdal_translate'
        echo 'python3-vtk9 "${PYTHON:-/usr/bin/python3}" -c "import vtkmodules.vtkIOXML"'
        # mpicc and mpirun may be another MPI's, and Debian's openmpi-bin brings mpicc without mpi.h.
        echo 'openmpi-bin command -v mpirun.openmpi || mpirun --version | grep "Open MPI"'
        echo 'libopenmpi-dev mpicc=$(command -v mpicc.openmpi) || mpicc=mpicc; $mpicc --showme:version &&
            echo "#include <mpi.h>" | $mpicc -fsyntax-only -x c -' | tr -s '\n ' ' ' && echo
        echo 'python3-numpy "${PYTHON:-/usr/bin/python3}" -c "import numpy"'
        ;;
    lint)
        echo 'clang-format command -v clang-format'
        echo 'lua-check command -v luacheck'
        echo 'cppcheck command -v cppcheck'
        echo 'shellcheck command -v shellcheck'
        ;;
    esac
}

missing=$(needs "$1" | while read -r package probe; do
    sh -c "$probe" >/dev/null 2>&1 || printf '%s ' "$package"
done)
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "missing (by their names in Debian): $missing" >&2
    echo "install them with this system's package manager, then try again" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "missing packages: $missing" >&2
        echo "as root: apt-get install --no-install-recommends $missing" >&2
        exit 1
    fi
    sudo=sudo
fi
echo "installing $missing"
install="$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0"
# The lists of packages may be absent or old: fetch them when nothing can be installed without.
# shellcheck disable=SC2086
{
    $install --simulate $missing >/dev/null 2>&1 || $sudo apt-get update -q
    $install $missing || { $sudo apt-get update -q && $install $missing; }
}
