# shellcheck shell=sh
# chroot.sh -- a fresh Debian 12 in a temporary folder; sourced by the tests beside it.
# Sets $root and $log; everything is unmounted and removed when the script ends.

stop() {
    echo "Bail out! $1"
    exit 1
}

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

clean() {
    umount -l "$root/proc" "$root/sys" 2>/dev/null
    rm -rf --one-file-system "$work"
}

[ "$(id -u)" = 0 ] || stop "a chroot needs root: use sudo"
command -v debootstrap >/dev/null || stop "debootstrap is missing: apt-get install debootstrap"
codename=$(sed -n "s/^VERSION_CODENAME=//p" /etc/os-release)
[ "$codename" = bookworm ] || stop "this test takes its packages from Debian 12's own sources"

work=$(TMPDIR=${TMPDIR:-/var/tmp} mktemp -d) || stop "no temporary directory"
root=$work/root
log=$work/log
trap clean EXIT
trap 'exit 1' INT TERM

debootstrap --variant=minbase bookworm "$root" "$(mirror | head -n 1)" >"$log" 2>&1 ||
    failed_at debootstrap
rm -f "$root/etc/apt/sources.list"
cp -r /etc/apt/sources.list.d /etc/apt/trusted.gpg.d "$root/etc/apt/"
[ ! -f /etc/apt/sources.list ] || cp /etc/apt/sources.list "$root/etc/apt/"
mount -t proc proc "$root/proc" || stop "cannot mount proc in the chroot"
mount -t sysfs -o ro sysfs "$root/sys" || stop "cannot mount sys in the chroot"
in_chroot apt-get -qq update >"$log" 2>&1 || failed_at "apt-get update"
