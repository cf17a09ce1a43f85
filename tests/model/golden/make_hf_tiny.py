#!/usr/bin/env python3
"""Writes hf_tiny/: two tiny models, saved by transformers 5, and some of their values as JSON.

    make_hf_tiny.py      (needs torch and transformers; the files are in the repository)
"""
import json
import os
import shutil

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hf_tiny")
SHAPE = dict(vocab_size=24, hidden_size=12, intermediate_size=20, num_hidden_layers=2, num_attention_heads=2,
             num_key_value_heads=1, head_dim=16, max_position_embeddings=64, rms_norm_eps=1e-5)


def values(model):
    """Returns the first element, the last element and the sum of every tensor."""
    named = {name: tensor.detach().double().flatten() for name, tensor in model.named_parameters()}
    return {name: [v[0].item(), v[-1].item(), v.sum().item()] for name, v in named.items()}


def main():
    torch.manual_seed(0)
    shutil.rmtree(HERE, ignore_errors=True)
    qwen3 = Qwen3ForCausalLM(Qwen3Config(
        **SHAPE, tie_word_embeddings=True, eos_token_id=3,
        rope_parameters={"rope_theta": 1e6, "rope_type": "default"}))
    llama = LlamaForCausalLM(LlamaConfig(**SHAPE, tie_word_embeddings=False, eos_token_id=3)).to(torch.bfloat16)
    llama.generation_config.eos_token_id = [3, 5]
    qwen3.save_pretrained(os.path.join(HERE, "qwen3"))
    llama.save_pretrained(os.path.join(HERE, "llama_bf16_shards"), max_shard_size="4KB")
    for name, model in (("qwen3", qwen3), ("llama_bf16_shards", llama)):
        with open(os.path.join(HERE, name, "expected.json"), "w") as out:
            json.dump(values(model), out, indent=1)


if __name__ == "__main__":
    main()
