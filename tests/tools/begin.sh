# Begins a test that runs the programs, NAME_test.sh BIN WORK [...]: sourced first. WORK is emptied.
BIN="$(realpath "$1")" WORK="$2"
rm -rf "$WORK" && mkdir -p "$WORK" && WORK="$(realpath "$WORK")"
source "$(dirname "${BASH_SOURCE[0]}")/run_lib.sh"
