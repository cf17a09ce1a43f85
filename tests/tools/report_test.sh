#!/usr/bin/env bash
# The report in a browser: what its script shows must be what was logged, and its console stays empty.
# report_test.sh BIN WORK; status 77: skipped, without Chromium.
set -euo pipefail
source "$(dirname "$0")/begin.sh"
browser="$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)"
[ -n "$browser" ] || { echo "SKIPPED: chromium is missing: apt install chromium (LIE_BROWSER=1 scripts/setup.sh)"; exit 77; }

browse() {  # page: prints the document as its scripts leave it; the console goes to console.log
  "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir="$WORK/profile" --window-size=1400,1000 \
    --enable-logging=stderr --dump-dom "file://$1" 2>"$WORK/console.log"
}

# Ten runs; the name of the second is an attack.
names=(lie '<img src=x onerror=attacked=1>' run-{3..10})
for i in "${!names[@]}"; do
  "$BIN/write_example_run" "$WORK/${names[$i]}" $((i + 1)) $((30 + 7 * i)) $((i < 2 ? 40 : 12))
done
"$BIN/lie_analyze" "${names[@]/#/$WORK/}" --html "$WORK/report.html" >"$WORK/table.txt"

{
  printf '%s\n' '<!doctype html><meta charset=utf-8><pre id=results></pre>' '<script>const runs = ['
  for name in "${names[@]}"; do echo "[$(paste -sd, "$WORK/$name/metrics.jsonl")],"; done
  echo ']</script><script>'
  cat tests/tools/report_probe.js
  echo '</script><iframe src=report.html width=1400 height=900></iframe><iframe src=report.html width=390 height=900></iframe>'
} >"$WORK/probe.html"
browse "$WORK/probe.html" >"$WORK/probe.dom" || { tail "$WORK/console.log"; fail "the browser"; }
sed -n '/<pre id="results">/,/<\/pre>/p' "$WORK/probe.dom" | sed 's/<[^>]*>//g' >"$WORK/results.txt"
cat "$WORK/results.txt"
! grep 'CONSOLE' "$WORK/console.log" || fail "the page's console"
! grep -q '^FAILED' "$WORK/results.txt" || fail "what the page shows"
grep -q '^all claims checked' "$WORK/results.txt" || fail "the claims were not checked to their end"
