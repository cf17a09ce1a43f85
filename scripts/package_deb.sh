#!/usr/bin/env bash
# Makes the Debian package of build/release in build/packages, or in DIRECTORY: scripts/package_deb.sh [DIRECTORY]
# The package fits the Debian or Ubuntu release of this computer. tests/packaging/deb_test.sh tests it in a clean chroot.
set -euo pipefail
if [ $# -gt 1 ] || [[ ${1:-} == -* ]]; then sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; fi
out="$(realpath -m "${1:-$(dirname "$0")/../build/packages}")"
cd "$(dirname "$0")/.."
command -v dpkg-shlibdeps >/dev/null || { echo "dpkg-shlibdeps is missing: apt-get install dpkg-dev" >&2; exit 1; }
[ -x build/release/bin/lie_cluster ] || { echo "build/release/bin has no programs: bash scripts/build.sh" >&2; exit 1; }
mkdir -p "$out"
log="build/package_deb.log"
cpack --config build/release/CPackConfig.cmake -G DEB -B "$out/_work" >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
mv "$out"/_work/*.deb "$out/"
rm -rf "$out/_work"
ls -l "$out"/*.deb
