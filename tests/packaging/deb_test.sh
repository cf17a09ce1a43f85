#!/usr/bin/env bash
# Tests a Debian package in a clean chroot of this computer's release. With its dependencies alone, a user and root run two
# steps of the demo under mpirun and read the run. After the package is removed, no file of it is left. The test takes minutes
# and needs root, mmdebstrap and Debian's packages, so scripts/make_release.sh runs it and ctest does not.
# usage: deb_test.sh PACKAGE.deb
set -euo pipefail
if [ $# != 1 ] || [ ! -f "$1" ]; then sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; fi
source "$(dirname "$(realpath "$0")")/chroot_lib.sh"
begin_chroot_test "$(realpath "$1")"
make_chroot apt

passes() {  # name command...: runs the command and prints the seconds it took
  local name="$1" start=$SECONDS
  shift
  "$@" >"$WORK/log" 2>&1 || { tail -n 30 "$WORK/log"; fail "$name: $*"; }
  say "$name: $((SECONDS - start)) s"
}

cp "$1" "$ROOT/tmp/package.deb"
depends="$(dpkg-deb -f "$1" Depends)"
say "depends on $depends"
passes "its dependencies" inside apt-get satisfy -y --no-install-recommends "$depends"
minimal_files "$WORK/before"
passes "installation" inside dpkg -i /tmp/package.deb
inside dpkg --verify lie-cluster
say "$(inside dpkg-query -W -f '${Package} ${Version}, ${Installed-Size} KiB' lie-cluster)"

for program in lie_cluster lie_analyze lie_replay lie_verify; do
  inside ldd "/usr/bin/$program" >"$WORK/ldd"
  ! grep "not found" "$WORK/ldd" || fail "$program lacks libraries"
  as_user "$program" --version >/dev/null || fail "$program --version"
done

short=(--set run.steps=2 --set evaluation.every=0)
passes "the user's copy of the demo" as_user cp -r /usr/share/lie_cluster/configs /usr/share/lie_cluster/assets .
passes "two steps on 4 ranks as a user" as_user mpirun --oversubscribe -n 4 lie_cluster train configs/demo.yaml "${short[@]}"
passes "two steps on 3 ranks as root" inside sh -c 'cp -r /usr/share/lie_cluster/configs /usr/share/lie_cluster/assets /srv/admin &&
  cd /srv/admin && exec mpirun --allow-run-as-root --oversubscribe -n 3 lie_cluster train configs/demo.yaml "$@"' sh "${short[@]}"
digest="$(as_user lie_analyze --digest runs/demo/lie)"
[ "$digest" = "$(inside lie_analyze --digest /srv/admin/runs/demo/lie)" ] || fail "the two runs differ"
[ "$(wc -l <"$ROOT/srv/user/runs/demo/lie/metrics.jsonl")" = 2 ] || fail "the run has no two steps"
passes "lie_analyze" as_user lie_analyze --check runs/demo/lie
passes "lie_replay" as_user lie_replay score runs/demo/lie
passes "lie_verify" as_user lie_verify '\frac12' '\boxed{0.5}'
! as_user lie_verify '\frac12' '\boxed{0.6}' >/dev/null || fail "lie_verify accepts 0.6 for one half"

passes "removal" inside dpkg --purge lie-cluster
minimal_files "$WORK/after"
diff "$WORK/before" "$WORK/after" || fail "the removed package leaves files"

# With the recommended packages the Python reader works. Root's use of it leaves no compiled modules behind either.
passes "with what it recommends" inside apt-get satisfy -y --no-install-recommends "$(dpkg-deb -f "$1" Recommends)"
minimal_files "$WORK/before"
inside dpkg -i /tmp/package.deb >/dev/null
read_run='import lie_cluster; print(len(lie_cluster.Run("runs/demo/lie").metrics()["step"]))'
[ "$(as_user python3 -c "$read_run")" = 2 ] || fail "Python reads another number of steps"
inside sh -c 'cd /srv/admin && python3 -c "$1"' sh "$read_run" >/dev/null || fail "Python as root"
inside dpkg --purge lie-cluster >/dev/null
minimal_files "$WORK/after"
diff "$WORK/before" "$WORK/after" || fail "the removed package leaves Python files"
say "PASSED: installed, run, removed; digest $digest"
