#!/usr/bin/env bash
# Makes the files of a release in build/release-files: the source archive of HEAD, the installed programs of build/release,
# the wheel of python/, and SHA256SUMS of all. Refuses a working tree with changes and a version that CHANGELOG.md lacks.
set -euo pipefail
[ $# = 0 ] || { sed -n '2,3s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
version="$(sed -n 's/^project(lie_cluster VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
grep -q "^## $version" CHANGELOG.md || { echo "CHANGELOG.md has no section $version" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || { echo "the working tree has changes: commit them first" >&2; exit 1; }
[ -x build/release/bin/lie_cluster ] || { echo "build/release/bin has no programs: bash scripts/build.sh" >&2; exit 1; }
case "$(build/release/bin/lie_cluster --version)" in
  "$version+$(git rev-parse --short=8 HEAD)") ;;
  *) echo "the programs are not of this commit: bash scripts/build.sh" >&2; exit 1 ;;
esac
out=build/release-files name="lie_cluster-$version"
rm -rf "$out"
mkdir -p "$out"
git archive --prefix="$name/" HEAD | gzip -n >"$out/$name.tar.gz"
programs="$name-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)"
cmake --install build/release --prefix "$out/$programs" >/dev/null
tar --sort=name --owner=0 --group=0 --mtime="@$(git log -1 --format=%ct)" -C "$out" -cf - "$programs" | gzip -n >"$out/$programs.tar.gz"
rm -rf "${out:?}/$programs"
python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" ./python
(cd "$out" && sha256sum -- *.tar.gz *.whl >SHA256SUMS)
ls -l "$out"
echo "[release] tag it: git tag -a v$version -m 'LIE Cluster $version'"
