#!/usr/bin/env bash
# Installed into an empty prefix and moved: everything runs from another directory, as another user, with its own libraries.
# install_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
source_tree="$PWD"
outside="$(mktemp -d)"  # where another user may go; outside the source tree, which holds WORK
trap 'rm -rf "$outside"' EXIT

cmake --install "$(dirname "$BIN")" --prefix "$outside/first" >"$WORK/install.log" || { cat "$WORK/install.log"; fail "install"; }
mv "$outside/first" "$outside/moved"
prefix="$outside/moved"
mkdir "$outside/home"
chmod 755 "$outside" && chmod 777 "$outside/home"

# as_user COMMAND...: in a directory of its own, without this environment and, as root, as nobody.
as_user() {
  local user=()
  if [ "$(id -u)" = 0 ]; then user=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
  (cd "$outside/home" && "${user[@]}" env -i PATH="$prefix/bin:/usr/bin:/bin" HOME="$outside/home" "$@")
}

for program in lie_cluster lie_analyze lie_replay lie_verify; do
  ldd "$prefix/bin/$program" >"$WORK/$program.ldd"
  ! grep -E "not found|$source_tree|/\.deps/" "$WORK/$program.ldd" || fail "$program needs what is not installed"
  [ "$(as_user "$program" --version)" = "$("$BIN/$program" --version)" ] || fail "$program --version"
done
for library in libtorch_cpu libarrow libgomp; do
  grep -q "$library.* => $prefix/" "$WORK/lie_cluster.ldd" || fail "$library is not the one installed"
done

# What the modulefile sets, said by the interpreter of its language.
modulefile=("$prefix"/share/modulefiles/lie_cluster/*)
if command -v tclsh >/dev/null; then
  sets="$(tclsh <<TCL
proc module-whatis {text} {}
proc conflict {name} {}
proc prepend-path {name value} { puts "\$name \$value" }
proc setenv {name value} { puts "\$name \$value" }
set ModulesCurrentModulefile "$modulefile"
source "$modulefile"
TCL
)"
  while read -r name path; do [ -d "$path" ] || fail "the modulefile sets $name to $path, which is not there"; done <<<"$sets"
  [ "$(wc -l <<<"$sets")" = 5 ] || fail "the modulefile sets: $sets"
fi

# A run as its help says, and the same bits as from the source tree.
as_user cp -r "$prefix/share/lie_cluster/configs" "$prefix/share/lie_cluster/assets" .
short=(--set run.steps=1 --set rollout.prompts_per_step=2 --set update.mini_batch_prompts=1 --set evaluation.every=0)
as_user lie_cluster train configs/demo.yaml "${short[@]}" >"$WORK/run.log" 2>&1 || { cat "$WORK/run.log"; fail "installed run"; }
"$BIN/lie_cluster" train configs/demo.yaml "${short[@]}" --set "run.directory=$WORK/run" >"$WORK/built.log" 2>&1 || fail "run"
[ "$(as_user lie_analyze --digest runs/demo/lie)" = "$(digest "$WORK/run")" ] || fail "other bits than in the source tree"
as_user lie_replay score runs/demo/lie >"$WORK/score.log" 2>&1 || { cat "$WORK/score.log"; fail "lie_replay score"; }
as_user lie_verify '\frac12' '\boxed{0.5}' >"$WORK/verify.log" 2>&1 || { cat "$WORK/verify.log"; fail "lie_verify"; }
echo "installed, moved, run $([ "$(id -u)" = 0 ] && echo "as nobody ")in $outside/home"
