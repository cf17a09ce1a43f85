#!/usr/bin/env bash
# Installs into an empty prefix and moves the installation. All programs run from another directory,
# as another user, with the installed libraries.
# install_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
source_tree="$PWD"
outside="$(mktemp -d)"  # accessible to another user, outside the source tree, which holds WORK
trap 'rm -rf "$outside"' EXIT

cmake --install "$(dirname "$BIN")" --prefix "$outside/first" >"$WORK/install.log" || { cat "$WORK/install.log"; fail "the installation failed"; }
mv "$outside/first" "$outside/moved"
prefix="$outside/moved"
mkdir "$outside/home"
chmod 755 "$outside" && chmod 777 "$outside/home"

# as_user COMMAND...: runs the command in a separate directory without this environment. Root
# switches to the user nobody.
as_user() {
  local user=()
  if [ "$(id -u)" = 0 ]; then user=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
  (cd "$outside/home" && "${user[@]}" env -i PATH="$prefix/bin:/usr/bin:/bin" HOME="$outside/home" "$@")
}

for program in lie_cluster lie_analyze lie_replay lie_verify; do
  ldd "$prefix/bin/$program" >"$WORK/$program.ldd"
  ! grep -E "not found|$source_tree|/\.deps/" "$WORK/$program.ldd" || fail "$program depends on libraries that are not installed"
  [ "$(as_user "$program" --version)" = "$("$BIN/$program" --version)" ] || fail "$program --version differs between build and installation"
done
for library in libarrow libparquet; do
  grep -q "$library.* => $prefix/" "$WORK/lie_cluster.ldd" || fail "$library is not loaded from the installation"
done

# Tcl evaluates the modulefile and prints the variables that it sets.
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
  while read -r name path; do [ -d "$path" ] || fail "the modulefile sets $name to $path, which does not exist"; done <<<"$sets"
  [ "$(wc -l <<<"$sets")" = 5 ] || fail "the modulefile sets: $sets"
fi

# A run as the help describes it is bit-identical to one from the source tree.
as_user cp -r "$prefix/share/lie_cluster/configs" "$prefix/share/lie_cluster/assets" .
short=(--set run.steps=1 --set rollout.prompts_per_step=2 --set update.mini_batch_prompts=1 --set evaluation.every=0)
as_user lie_cluster train configs/demo.yaml "${short[@]}" >"$WORK/run.log" 2>&1 || { cat "$WORK/run.log"; fail "the installed run failed"; }
"$BIN/lie_cluster" train configs/demo.yaml "${short[@]}" --set "run.directory=$WORK/run" >"$WORK/built.log" 2>&1 || fail "the run from the source tree failed"
[ "$(as_user lie_analyze --digest runs/demo/lie)" = "$(digest "$WORK/run")" ] || fail "the installed run is not bit-identical to that of the source tree"
as_user lie_analyze --check runs/demo/lie >"$WORK/check.log" 2>&1 || { cat "$WORK/check.log"; fail "lie_analyze --check of a run without evaluations failed"; }
as_user lie_replay score runs/demo/lie >"$WORK/score.log" 2>&1 || { cat "$WORK/score.log"; fail "lie_replay score failed"; }

# A config that the installed init writes names a page that its reader has.
as_user lie_cluster init assets/count_pairs/model assets/count_pairs/train.jsonl --samples 0 >"$WORK/init.yaml" 2>"$WORK/init.log" ||
  { cat "$WORK/init.log"; fail "the installed init failed"; }
page="$(grep -oE '/[^ ]*docs/[^ ]*[.]md' "$WORK/init.yaml")" || fail "init names no page"
[ -f "$page" ] || fail "init names $page, which does not exist"
as_user lie_verify '\frac12' '\boxed{0.5}' >"$WORK/verify.log" 2>&1 || { cat "$WORK/verify.log"; fail "lie_verify failed"; }
echo "installed, moved, run $([ "$(id -u)" = 0 ] && echo "as nobody ")in $outside/home"
