#!/usr/bin/env python3
"""Writes a model with random weights and the shape of a config.json. transformers saves it in bf16, in shards of 1 GB:

    make_random_model.py configs/qwen3-0.6b TOKENIZER_DIR OUT_DIR [key=value ...]      (keys of config.json, as JSON)
"""
import json
import os
import shutil
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM


def main(config_dir, tokenizer_dir, out_dir, *changes):
    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(config_dir)
    for change in changes:
        key, value = change.split("=", 1)
        setattr(config, key, json.loads(value))
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(out_dir, max_shard_size="1GB")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(os.path.join(tokenizer_dir, name), out_dir)
    print(f"{sum(p.numel() for p in model.parameters())} parameters in {out_dir}")


if __name__ == "__main__":
    main(*sys.argv[1:])
