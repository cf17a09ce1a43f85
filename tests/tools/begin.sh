# Prepares a test script that runs the programs: NAME_test.sh BIN WORK [...]. Every such script
# sources this file first. WORK is emptied.
BIN="$(realpath "$1")" WORK="$2"
rm -rf "$WORK" && mkdir -p "$WORK" && WORK="$(realpath "$WORK")"
source "$(dirname "${BASH_SOURCE[0]}")/run_lib.sh"
