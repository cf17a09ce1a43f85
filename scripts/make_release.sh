#!/usr/bin/env bash
# Makes the files of a release in build/release-files, or in DIRECTORY: scripts/make_release.sh [DIRECTORY]
# They are the source archive of HEAD, the installed programs of build/release, the Debian package, the wheel of python/, and
# SHA256SUMS of all. The source archive must configure, and the Debian package must pass tests/packaging/deb_test.sh, which is
# skipped without root and mmdebstrap. Refuses a working tree with changes and a version that CHANGELOG.md lacks.
set -euo pipefail
if [ $# -gt 1 ] || [[ ${1:-} == -* ]]; then sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; fi
out="$(realpath -m "${1:-$(dirname "$0")/../build/release-files}")"
cd "$(dirname "$0")/.."
version="$(sed -n 's/^project(lie_cluster VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
grep -q "^## $version" CHANGELOG.md || { echo "CHANGELOG.md has no section $version" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || { echo "the working tree has changes: commit them first" >&2; exit 1; }
[ -x build/release/bin/lie_cluster ] || { echo "build/release/bin has no programs: bash scripts/build.sh" >&2; exit 1; }
case "$(build/release/bin/lie_cluster --version)" in
  "$version+$(git rev-parse --short=8 HEAD)") ;;
  *) echo "the programs are not of this commit: bash scripts/build.sh" >&2; exit 1 ;;
esac
name="lie_cluster-$version"
programs="$name-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -f "$out"/*.tar.gz "$out"/*.deb "$out"/*.whl "$out/SHA256SUMS"

git archive --prefix="$name/" HEAD | gzip -n >"$out/$name.tar.gz"
tar -xzf "$out/$name.tar.gz" -C "$work"
cmake -S "$work/$name" -B "$work/build" -G Ninja -DLIE_DEPS_DIR="$PWD/.deps" >"$work/configure.log" 2>&1 ||
  { tail -n 20 "$work/configure.log" >&2; echo "the source archive does not configure" >&2; exit 1; }

cmake --install build/release --prefix "$work/$programs" >/dev/null
tar --sort=name --owner=0 --group=0 --mtime="@$(git log -1 --format=%ct)" -C "$work" -cf - "$programs" | gzip -n >"$out/$programs.tar.gz"
python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" ./python
if command -v dpkg-shlibdeps >/dev/null; then
  bash scripts/package_deb.sh "$out" >/dev/null
  tests/packaging/deb_test.sh "$out"/*.deb || [ $? = 77 ]
fi
(cd "$out" && shopt -s nullglob && sha256sum -- *.tar.gz *.deb *.whl >SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
ls -l "$out"
echo "[release] tag it: git tag -a v$version -m 'LIE Cluster $version'"
