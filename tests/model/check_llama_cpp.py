#!/usr/bin/env python3
"""Checks that llama.cpp reads a checkpoint of ours like the original model, and compares its log-probs with ours:

    check_llama_cpp.py BUILD_DIR/bin CONVERT_HF_TO_GGUF.py MODEL_DIR

llama.cpp's converter turns MODEL_DIR and its copy by model_roundtrip into fp32 GGUF files. Their tensors must be
bit-identical, and greedy generation by llama.cpp must give the same tokens and log-probs from both. Then the script
compares the log-probs of these tokens with those of transformers and of `lie_cluster score` in float32, for several
settings of llama.cpp. Needs torch, transformers, gguf and xllamacpp; run by hand.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import torch
from gguf import GGUFReader
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

PROMPTS = ["The capital of France is", "def fibonacci(n):\n", "Let $x$ be a real number such that", "Once upon a time",
           "Question: Janet has 3 boxes of 12 eggs. How many eggs has she?\nAnswer:", "Das Wetter ist heute",
           "The theory of evolution explains", "#include <stdio.h>\nint main(void) {"]
SETTINGS = {
    "defaults": {},
    "fp32 cache": dict(cache="F32"),
    "fp32 cache, no flash attention, no repacking": dict(cache="F32", flash_attn="DISABLED", no_repack=True),
}


def convert(converter, model, out):
    subprocess.run([sys.executable, converter, model, "--outtype", "f32", "--outfile", out], check=True,
                   stderr=subprocess.DEVNULL)


def roundtrip(bin_dir, model, out):
    subprocess.run([os.path.join(bin_dir, "model_roundtrip"), model, out], check=True)
    for name in os.listdir(model):  # model_roundtrip writes config.json and the weights
        if "token" in name or name.endswith(".jinja"):
            shutil.copy(os.path.join(model, name), out)


def compare_files(a, b):
    """Returns the number of tensors that differ. Prints metadata that differ."""
    a, b = GGUFReader(a), GGUFReader(b)
    for key in sorted(a.fields.keys() | b.fields.keys()):
        values = [file.fields[key].contents() if key in file.fields else None for file in (a, b)]
        if values[0] != values[1] and not key.startswith("GGUF."):
            print(f"  metadata {key}: {values[0]} / {values[1]}")
    tensors = [{t.name: t for t in file.tensors} for file in (a, b)]
    names = tensors[0].keys() | tensors[1].keys()
    different = [n for n in names if any(n not in t for t in tensors) or tensors[0][n].data.tobytes() != tensors[1][n].data.tobytes()]
    print(f"GGUF: {len(names)} tensors, {sum(t.data.nbytes for t in tensors[0].values()) / 1e6:.0f} MB, {len(different)} different",
          flush=True)
    return len(different)


def llama_cpp(path, prompts, new_tokens, flash_attn="AUTO", cache="F16", no_repack=False):
    """Returns greedy tokens and their log-probs: [(ids, log-probs)]."""
    import xllamacpp
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx, params.n_parallel, params.warmup, params.verbosity = 2048, 1, False, -1
    params.flash_attn_type = getattr(xllamacpp.llama_flash_attn_type, "LLAMA_FLASH_ATTN_TYPE_" + flash_attn)
    params.cache_type_k = params.cache_type_v = getattr(xllamacpp.ggml_type, "GGML_TYPE_" + cache)
    params.no_extra_bufts = no_repack
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server, found = xllamacpp.Server(params), []
    for ids in prompts:
        answer = server.handle_completions({"prompt": ids, "n_predict": new_tokens, "temperature": -1, "n_probs": 1,
                                            "cache_prompt": False})
        tokens = answer["choices"][0]["logprobs"]["content"]
        found.append(([t["id"] for t in tokens], [t["logprob"] for t in tokens]))
    return found


def transformers_log_probs(model, prompt, ids):
    with torch.no_grad():
        logits = model(torch.tensor([prompt + ids]), use_cache=False).logits[0].double()
    return torch.log_softmax(logits, -1)[len(prompt) - 1:-1]


def our_log_probs(bin_dir, model, rows):
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    out = subprocess.run([os.path.join(bin_dir, "lie_cluster"), "score", model, "-", "--threads", "1"], check=True,
                         input=lines.encode(), stdout=subprocess.PIPE)
    return [json.loads(line)["log_probs"] for line in out.stdout.splitlines()]


def report(args, model, prompts, generated):
    rows = [{"prompt_ids": prompt, "response_ids": ids} for prompt, (ids, _) in zip(prompts, generated)]
    ids = torch.tensor([i for row in rows for i in row["response_ids"]])
    llama = torch.tensor([x for _, log_probs in generated for x in log_probs]).double()
    ours = torch.tensor([x for log_probs in our_log_probs(args.bin, args.model, rows) for x in log_probs]).double()
    every = torch.cat([transformers_log_probs(model, row["prompt_ids"], row["response_ids"]) for row in rows])  # [T, V]
    theirs, likeliest = every.gather(1, ids[:, None])[:, 0], every.max(-1)
    largest = {f"{a} - {b}": f"{(x - y).abs().max():.1e}" for a, x, b, y in (
        ("llama.cpp", llama, "ours", ours), ("llama.cpp", llama, "transformers", theirs), ("ours", ours, "transformers", theirs))}
    print(f"  {len(ids)} tokens, largest differences of log-probs: {largest}; {(likeliest.indices != ids).sum()} tokens are not "
          f"transformers' likeliest, by {(likeliest.values - theirs).max():.1e} at most", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("converter")
    parser.add_argument("model")
    parser.add_argument("--new-tokens", type=int, default=80)
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(os.path.join(args.model, "tokenizer.json"))
    prompts = [tokenizer.encode(text, add_special_tokens=False).ids for text in PROMPTS]
    with tempfile.TemporaryDirectory() as folder:
        written, original, back = (os.path.join(folder, name) for name in ("written", "original.gguf", "written.gguf"))
        roundtrip(args.bin, args.model, written)
        convert(args.converter, args.model, original)
        convert(args.converter, written, back)
        good = compare_files(original, back) == 0
        model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32).eval()
        for setting, options in SETTINGS.items():
            generated = llama_cpp(back, prompts, args.new_tokens, **options)
            same = generated == llama_cpp(original, prompts, args.new_tokens, **options)
            good = good and same
            print(f"llama.cpp {setting}: from either file {'the same' if same else 'DIFFERENT'}", flush=True)
            report(args, model, prompts, generated)
    sys.exit(not good)


if __name__ == "__main__":
    main()
