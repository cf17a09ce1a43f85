#!/usr/bin/env python3
"""Checks that transformers and LIE Cluster read each other's model directories:

    check_transformers.py BUILD_DIR/bin/model_roundtrip

Each model passes through save_pretrained, model_roundtrip and from_pretrained. Parameters and logits must be
bit-identical, and the configs must agree. Needs torch and transformers; run by hand.
"""
import os
import subprocess
import sys
import tempfile

import torch
from transformers import (AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM)

SHAPE = dict(vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, head_dim=16, max_position_embeddings=128, eos_token_id=3)
SAME_KEYS = ("vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads head_dim "
             "max_position_embeddings rope_parameters rms_norm_eps initializer_range tie_word_embeddings hidden_act "
             "attention_bias bos_token_id eos_token_id pad_token_id model_type").split()


def cases():
    rope = {"rope_theta": 5e5, "rope_type": "default"}
    for name, config, model in (("qwen3", Qwen3Config, Qwen3ForCausalLM), ("llama", LlamaConfig, LlamaForCausalLM)):
        for tied in (True, False):
            for dtype in (torch.float32, torch.bfloat16, torch.float16):
                yield name, model(config(**SHAPE, tie_word_embeddings=tied, rope_parameters=rope)).to(dtype), "10GB"
    llama3 = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 32}
    yield "llama3 rope, bias", LlamaForCausalLM(LlamaConfig(**SHAPE, attention_bias=True, rope_parameters=llama3)), "10GB"
    yield "qwen3 bias", Qwen3ForCausalLM(Qwen3Config(**SHAPE, attention_bias=True, rope_parameters=rope)), "10GB"
    yield "qwen2", Qwen2ForCausalLM(Qwen2Config(**SHAPE | dict(bos_token_id=1, pad_token_id=2), rope_parameters=rope)), "10GB"
    yield "sharded", Qwen3ForCausalLM(Qwen3Config(**SHAPE, tie_word_embeddings=False)), "20KB"


def check(program, name, model, shard_size):
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = os.path.join(folder, "theirs"), os.path.join(folder, "ours")
        model.save_pretrained(theirs, max_shard_size=shard_size)
        subprocess.run([program, theirs, ours], check=True)
        model = AutoModelForCausalLM.from_pretrained(theirs, dtype=torch.float32)
        back = AutoModelForCausalLM.from_pretrained(ours)
    assert type(back) is type(model) and back.dtype == torch.float32
    before, after = model.state_dict(), back.state_dict()
    assert before.keys() == after.keys()
    for key in before:
        assert torch.equal(before[key], after[key]), key
    ids = torch.arange(40).reshape(2, 20)
    assert torch.equal(model(ids).logits, back(ids).logits)
    for key in SAME_KEYS:
        assert getattr(model.config, key, None) == getattr(back.config, key, None), key
    print("equal:", name, "tied" if model.config.tie_word_embeddings else "untied", shard_size)


def main():
    torch.manual_seed(0)
    for name, model, shard_size in cases():
        check(sys.argv[1], name, model, shard_size)


if __name__ == "__main__":
    main()
