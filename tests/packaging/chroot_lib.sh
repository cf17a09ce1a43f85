# shellcheck shell=bash
# Functions of the tests of packages, which run in a clean chroot of this computer's Debian release. To be sourced.
#
#   begin_chroot_test "$@"      restarts the script with mounts of its own, which end with it; makes the folder WORK
#   make_chroot PACKAGES...     makes ROOT, a minimal system with apt and the packages
#   inside COMMAND...           runs a command in ROOT as root, with an environment of its own
#   as_user COMMAND...          runs a command in ROOT as user "user" in that user's home
#   minimal_files FILE          lists the files of ROOT that a package could leave behind
#
# Status 77: skipped, with the reason.

say() { printf '[%s] %s\n' "$(basename "$0" .sh)" "$*"; }
skip() { say "SKIPPED: $*"; exit 77; }
fail() { say "FAILED: $*"; exit 1; }

begin_chroot_test() {
  [ "$(id -u)" = 0 ] || skip "a chroot takes root"
  command -v mmdebstrap >/dev/null || skip "mmdebstrap is missing: apt install mmdebstrap"
  if [ -z "${LIE_IN_NAMESPACE:-}" ]; then
    unshare --mount true 2>/dev/null || skip "mount namespaces are not allowed here"
    LIE_IN_NAMESPACE=1 exec unshare --mount --propagation private "$(realpath "$0")" "$@"
  fi
  WORK="$(mktemp -d)" ROOT="$WORK/root"
  chmod 755 "$WORK"
  trap 'umount --recursive --lazy "$ROOT/proc" "$ROOT/dev" 2>/dev/null; rm -rf --one-file-system "$WORK"' EXIT
}

make_chroot() {
  local start=$SECONDS release
  release="$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)"
  mmdebstrap --quiet --variant=apt --include="$(IFS=,; echo "$*")" "$release" "$ROOT" >"$WORK/mmdebstrap.log" 2>&1 ||
    { tail -n 20 "$WORK/mmdebstrap.log"; fail "mmdebstrap"; }
  mount -t proc proc "$ROOT/proc"
  mount --rbind /dev "$ROOT/dev"
  mount -t tmpfs tmpfs "$ROOT/dev/shm"
  cp /etc/resolv.conf "$ROOT/etc/"
  inside useradd --create-home --home-dir /srv/user user
  mkdir "$ROOT/srv/admin"
  inside apt-get update -qq
  say "a clean system: $((SECONDS - start)) s"
}

inside() { chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv/admin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() {
  chroot --userspec=user:user "$ROOT" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/srv/user LC_ALL=C.UTF-8 \
    sh -c 'cd && exec "$@"' sh "$@"
}

minimal_files() {
  (cd "$ROOT" && find . -xdev \( -path ./tmp -o -path ./srv -o -path ./run -o -path ./var/log -o -path ./var/cache \
    -o -path ./var/lib/dpkg -o -path ./var/lib/apt \) -prune -o -printf '%y %p\n' | sort) >"$1"
}
