# A function of scripts/extrapolation.sh and scripts/list_lengths.sh, which set `bin` and `study`.

# measure NAME MODEL PROMPTS KEYS: evaluates MODEL at temperature 1 with further keys of `evaluation`; the run directory is
# $study/NAME. Skips a finished evaluation.
measure() {
  cat >"$study/eval.yaml" <<YAML
run: {directory: $study/$1}
model: {path: $2}
data: {evaluation_file: $3}
rollout: {max_prompt_tokens: 32}
evaluation: {temperature: 1.0, ks: [1], $4}
YAML
  "$bin/lie_cluster" eval "$study/eval.yaml" >"$study/eval.log" 2>&1 || { cat "$study/eval.log"; exit 1; }
}
