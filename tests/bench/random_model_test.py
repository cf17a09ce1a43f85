#!/usr/bin/env python3
"""Tests random_model: the weights are those of Philox 4x32-10 and Box-Muller, calculated here independently, for any number of
threads, and a run trains with them.

    random_model_test.py BIN_DIR WORK_DIR SOURCE_DIR
"""
import argparse
import json
import math
import os
import struct
import subprocess
import sys

CONFIG = {"architectures": ["Qwen3ForCausalLM"], "attention_bias": False, "eos_token_id": 777, "head_dim": 16,
          "hidden_act": "silu", "hidden_size": 64, "initializer_range": 0.02, "intermediate_size": 96,
          "max_position_embeddings": 128, "model_type": "qwen3", "num_attention_heads": 4, "num_hidden_layers": 2,
          "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "rope_theta": 1e6, "tie_word_embeddings": True,
          "vocab_size": 9000}  # 9000 x 64 elements are three blocks of random_model
SEED, STREAM = 12345678901, 4  # the stream of initial weights in common/base/random.h
# Number of a parameter in the flat order: the embedding, then a layer's input norm, q, k, v, ...
NUMBERS = {"model.embed_tokens.weight": 0, "model.layers.0.self_attn.q_proj.weight": 2}


def philox(counter, key):
    """Philox 4x32-10 (Salmon et al., SC 2011, figure 4 and table 2)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        high = [(m * x) >> 32 for m, x in ((0xD2511F53, c[0]), (0xCD9E8D57, c[2]))]
        low = [(m * x) & 0xFFFFFFFF for m, x in ((0xD2511F53, c[0]), (0xCD9E8D57, c[2]))]
        c = [high[1] ^ c[1] ^ k[0], low[1], high[0] ^ c[3] ^ k[1], low[0]]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bfloat16_bits(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def element(number, index):
    words = philox((0, number, STREAM << 24, index), (SEED & 0xFFFFFFFF, SEED >> 32))
    u, v = (words[0] + 0.5) / 2**32, words[1] / 2**32
    normal = float32(math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v))
    return bfloat16_bits(float32(float32(0.02) * normal))


def read(path):
    """Returns each tensor's dtype, shape and 16-bit elements."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = (entry["dtype"], entry["shape"], struct.unpack(f"<{(end - begin) // 2}H", data[begin:end]))
    return tensors


def write_model(binaries, work, source, name, threads):
    shape, out = os.path.join(work, "shape"), os.path.join(work, name)
    os.makedirs(shape, exist_ok=True)
    with open(os.path.join(shape, "config.json"), "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)
    subprocess.run([os.path.join(binaries, "random_model"), shape, out, "--seed", str(SEED), "--threads", str(threads),
                    "--response-tokens", "8",
                    "--tokenizer", os.path.join(source, "assets/count_pairs/model")], check=True)
    return out


def check_weights(path):
    tensors = read(path)
    assert all(dtype == "BF16" for dtype, _, _ in tensors.values())
    assert tensors["model.embed_tokens.weight"][1] == [9000, 64]
    for name, number in NUMBERS.items():
        bits = tensors[name][2]
        for index in [*range(300), 1 << 18, (1 << 18) + 1, len(bits) - 1]:
            if index < len(bits):
                assert bits[index] == element(number, index), (name, index)
    assert set(tensors["model.layers.1.input_layernorm.weight"][2]) == {bfloat16_bits(1.0)}


def train(binaries, work, source, model):
    """Runs three steps. Responses of different lengths have different rewards, so that the policy changes."""
    run = os.path.join(work, "run")
    keys = {"model.path": model, "run.directory": run, "run.steps": 3,
            "rollout.prompts_per_step": 2, "rollout.samples_per_prompt": 8, "rollout.max_response_tokens": 16,
            "update.mini_batch_prompts": 2, "evaluation.every": 0, "checkpoint.every": 3}
    subprocess.run([os.path.join(binaries, "lie_cluster"), "train", "configs/demo.yaml"] +
                   [f"--set={key}={value}" for key, value in keys.items()], check=True, cwd=source)
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert len(rows) == 3 and all(row["grad_norm"] > 0 for row in rows), rows


def main(binaries, work, source):
    subprocess.run(["rm", "-rf", work], check=True)
    one = write_model(binaries, work, source, "one", 1)
    three = write_model(binaries, work, source, "three", 3)
    paths = [os.path.join(model, "model.safetensors") for model in (one, three)]
    with open(paths[0], "rb") as first, open(paths[1], "rb") as second:
        assert first.read() == second.read(), "the weights depend on the number of threads"
    check_weights(paths[0])
    train(binaries, work, source, one)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for folder in ("BIN_DIR", "WORK_DIR", "SOURCE_DIR"):
        parser.add_argument(folder, type=os.path.abspath)
    main(*vars(parser.parse_args()).values())
