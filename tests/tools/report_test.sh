#!/usr/bin/env bash
# Opens the report in a browser. Its script must show what was logged, and the console must stay
# empty.
# report_test.sh BIN WORK; exits with status 77 (skipped) if Chromium is missing.
set -euo pipefail
source "$(dirname "$0")/begin.sh"
browser="$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)"
[ -n "$browser" ] || { echo "SKIPPED: chromium is missing: apt install chromium (LIE_BROWSER=1 scripts/setup.sh)"; exit 77; }

browse() {  # page: prints the document after its scripts ran; writes the console to console.log
  "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir="$WORK/profile" --window-size=1400,1000 \
    --enable-logging=stderr --dump-dom "file://$1" 2>"$WORK/console.log"
}

# Writes ten runs. The name of the second attempts a script injection.
names=(lie '<img src=x onerror=attacked=1>' run-{3..10})
for i in "${!names[@]}"; do
  "$BIN/write_example_run" "$WORK/${names[$i]}" $((i + 1)) $((30 + 7 * i)) $((i < 2 ? 40 : 12))
done
# The third run lacks steps 5 and 6, and its step 9 has no signal.
sed -i -E -e '/^\{"step":(5|6),/d' -e '/^\{"step":9,/s/("advantage_mass_\w+":)[^,}]*/\10/g' "$WORK/run-3/metrics.jsonl"
# The settings of the fourth run changed after step 7.
sed 's/clip_low: 0.01/clip_low: 0.02/' "$WORK/run-4/config.yaml" >"$WORK/run-4/config.step-000007.yaml"
"$BIN/lie_analyze" "${names[@]/#/$WORK/}" --html "$WORK/report.html" >"$WORK/table.txt"

{
  printf '%s\n' '<!doctype html><meta charset=utf-8><pre id=results></pre>' '<script>const runs = ['
  for name in "${names[@]}"; do echo "[$(paste -sd, "$WORK/$name/metrics.jsonl")],"; done
  echo ']</script><script>'
  cat tests/tools/report_probe.js
  echo '</script><iframe src=report.html width=1400 height=900></iframe><iframe src=report.html width=390 height=900></iframe>'
} >"$WORK/probe.html"
browse "$WORK/probe.html" >"$WORK/probe.dom" || { tail "$WORK/console.log"; fail "the browser failed"; }
sed -n '/<pre id="results">/,/<\/pre>/p' "$WORK/probe.dom" | sed 's/<[^>]*>//g' >"$WORK/results.txt"
cat "$WORK/results.txt"
! grep 'CONSOLE' "$WORK/console.log" || fail "the page wrote to the console"
! grep -q '^FAILED' "$WORK/results.txt" || fail "the page shows incorrect values"
grep -q '^all claims checked' "$WORK/results.txt" || fail "the probe did not check all claims"

# A link to one chart opens it also when the page is loaded anew.
browse "$WORK/report.html#chart-learning-rate" >"$WORK/linked.dom" || fail "the browser failed"
grep -qE '<details class="folded" open="?"?>(<summary>)?<summary><b[^>]*>Learning rate' "$WORK/linked.dom" || fail "the linked chart is still folded"

# A page of a run in progress reads its file again and keeps what the reader chose.
sed 's/"refresh":null/"refresh":1/' "$WORK/report.html" >"$WORK/live.html"
cat >"$WORK/live_probe.html" <<'END'
<!doctype html><meta charset=utf-8><pre id=results></pre><iframe src=live.html width=1400 height=900></iframe><script>
"use strict";
const frame = document.querySelector("iframe");
let loads = 0;
frame.addEventListener("load", () => {
  const page = frame.contentDocument, axis = page.querySelector(".controls select");
  loads += 1;
  if (loads === 2) document.querySelector("#results").textContent = `after a refresh: ${axis.value}, ${page.querySelector(".controls [name=refresh]").checked}`;
  axis.value = "tokens";
  axis.dispatchEvent(new frame.contentWindow.Event("change"));
});
</script>
END
"$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir="$WORK/profile" --virtual-time-budget=6000 \
  --dump-dom "file://$WORK/live_probe.html" 2>/dev/null >"$WORK/live.dom" || fail "the browser failed"
grep -q 'after a refresh: tokens, true' "$WORK/live.dom" || fail "the page does not refresh itself, or forgets the axis"
