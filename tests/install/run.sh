#!/bin/sh
# run.sh -- first contact: what a bare machine is told, what gets installed, and that what `make
# install` puts in place is complete. Prints TAP.
# usage: BUILD=build CC=gcc run.sh; CC may be several words, such as "ccache gcc".
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset MAKEFLAGS MAKELEVEL

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

# One message, and none of the compiler's own or of make's attempts to ask it.
a_missing_compiler_is_told_once() {
    make CC=no-such-compiler CUDA=0 BUILD="$place/none" 2>&1 | grep -v '^make: ' >"$place/text"
    printf '%s\n' 'no-such-compiler: there is no such compiler; make demo installs what is missing (Debian, Ubuntu),' \
        'CC=clang takes another one' | diff - "$place/text" &&
        ! make CC=no-such-compiler CUDA=0 BUILD="$place/none" 2>&1 | grep 'No such file'
}

# Whatever `make test` was given.
a_build_without_cuda_says_why() (
    unset CUDA NVCC SANITIZE
    make -n CUDA=0 BUILD="$place/none" | grep "echo 'without CUDA, for CPUs only: CUDA=0'" &&
        make -n NVCC= BUILD="$place/none" | grep 'without CUDA, for CPUs only: nvcc is not here' &&
        make -n SANITIZE=address NVCC=/bin/true BUILD="$place/none" | grep 'CPUs only: sanitizers'
)

# "ccache gcc -pipe": a launcher before it, options behind it.
a_compiler_may_have_options() {
    make CC="env ${CC:-gcc} -pipe" CUDA=0 BUILD="$place/none" compiler
}

# On a machine without packages and with no lists of them: an apt-get that knows nothing before an
# update, and says what it does.
what_is_installed_is_shown() {
    mkdir "$place/bare" && for tool in sh env ls id; do
        ln -s "$(command -v $tool)" "$place/bare/$tool" || return 1
    done
    cat >"$place/bare/apt-get" <<'END'
#!/bin/sh
here=${0%/*}
case $1 in
update) echo "Get:1 lists" && : >"$here/lists" ;;
install)
    [ -e "$here/lists" ] || { echo "E: Unable to locate package gcc" >&2; exit 100; }
    case "$*" in *--simulate*) exit 0 ;; esac
    for package; do case $package in -*) ;; *) echo "Setting up $package" ;; esac; done ;;
esac
END
    printf '#!/bin/sh\nexec "$@"\n' >"$place/bare/sudo"
    chmod +x "$place/bare/apt-get" "$place/bare/sudo"
    env -i PATH="$place/bare" CC=no-such-compiler sh tools/setup.sh run >"$place/text" 2>&1 || return 1
    grep '^installing gcc ' "$place/text" && grep -x 'Get:1 lists' "$place/text" &&
        grep -x 'Setting up gcc' "$place/text" && ! grep '^E: ' "$place/text"
}

ok "a missing compiler is told once" a_missing_compiler_is_told_once
ok "a compiler may have options" a_compiler_may_have_options
ok "a build without CUDA says why" a_build_without_cuda_says_why
ok "what is installed is shown" what_is_installed_is_shown

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

embeds() {
    # shellcheck disable=SC2046  # flags are words
    ${CC:-gcc} -std=c11 -D_GNU_SOURCE -o "$place/embed" examples/c/embed.c \
        $(pkg-config --cflags --libs selenite) && "$place/embed" "$place/run" &&
        [ -s "$place/run/vtk.pvd" ]
}

runs_an_example() {
    "$place/bin/selenite" run "$place/share/selenite/examples/12_image.lua" -o "$place/image" --quiet
}

# A man page, completions that bash can read, and the documents with their pictures.
documents_are_there() {
    cmp docs/selenite.1 "$place/share/man/man1/selenite.1" &&
        grep '^complete -F _selenite selenite' "$place/share/bash-completion/completions/selenite" &&
        grep '^#compdef selenite' "$place/share/zsh/site-functions/_selenite" || return 1
    for file in README.md CHANGELOG.md LICENSE docs/guide.md docs/reference.md docs/physics.md \
        docs/pictures/storm.png; do
        cmp "$file" "$place/share/doc/selenite/$file" || return 1
    done
}

ok "a C program builds with the installed library" embeds
ok "an installed example runs" runs_an_example
ok "documents, man page and completions are installed" documents_are_there
