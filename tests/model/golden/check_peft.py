#!/usr/bin/env python3
"""Checks that PEFT and LIE Cluster read each other's LoRA adapters:

    check_peft.py BUILD_DIR/bin [TRAINED_CHECKPOINT]

1. An adapter that PEFT saves, on a base that transformers saves: lie_cluster score --adapter gives PEFT's log-probs,
   and lie_cluster merge writes a model with which transformers gives them, too.
2. A checkpoint of a run with model.lora (by default of two steps, made here): PEFT loads it with every key in place,
   and gives the log-probs of lie_cluster score.
Needs torch, transformers and peft; run by hand from the root of the repository.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import (AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM)

MODEL = "assets/count_pairs/model"
SHAPE = dict(vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, head_dim=16, max_position_embeddings=128, eos_token_id=3)
CASES = [("qwen3", Qwen3ForCausalLM, Qwen3Config(**SHAPE, tie_word_embeddings=True), "all-linear", 4),
         ("qwen3 untied", Qwen3ForCausalLM, Qwen3Config(**SHAPE), ["q_proj", "v_proj"], 8),
         ("llama bias", LlamaForCausalLM, LlamaConfig(**SHAPE, attention_bias=True), "all-linear", 6),
         ("qwen2", Qwen2ForCausalLM, Qwen2Config(**SHAPE), ["k_proj", "o_proj", "up_proj", "down_proj"], 16)]


def largest_difference(a, b):
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def scores(program, model, prompt, response, *more):
    row = json.dumps(dict(prompt_ids=prompt, response_ids=response))
    out = subprocess.run([program, "score", model, "-", *more], input=row, text=True, check=True, capture_output=True)
    return json.loads(out.stdout)["log_probs"]


def log_probs(model, prompt, response):
    with torch.no_grad():
        logits = model(torch.tensor([prompt + response])).logits[0].double()
    rows = torch.log_softmax(logits[len(prompt) - 1:-1], -1)
    return [float(rows[i, token]) for i, token in enumerate(response)]


def check_adapter_of_peft(program, name, model_class, config, targets, rank):
    torch.manual_seed(rank)
    with tempfile.TemporaryDirectory() as folder:
        base, adapter, merged = (os.path.join(folder, part) for part in ("base", "adapter", "merged"))
        model_class(config).save_pretrained(base)
        for file in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(os.path.join(MODEL, file), base)
        model = get_peft_model(AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32),
                               LoraConfig(r=rank, lora_alpha=2 * rank + 1, target_modules=targets, task_type="CAUSAL_LM"))
        for parameter, values in model.named_parameters():
            if "lora_B" in parameter:
                torch.nn.init.normal_(values, std=0.3)
        model.save_pretrained(adapter)
        prompt, response = [5, 17, 9], [int(i) for i in torch.randint(0, 96, (30,))]
        expected = log_probs(model, prompt, response)
        ours = scores(program, base, prompt, response, "--adapter", adapter)
        without = scores(program, base, prompt, response)
        subprocess.run([program, "merge", base, merged, "--adapter", adapter], check=True, capture_output=True)
        after_merge = log_probs(AutoModelForCausalLM.from_pretrained(merged), prompt, response)
    assert largest_difference(ours, without) > 0.1, "the adapter changes nothing"
    assert largest_difference(ours, expected) < 2e-5, largest_difference(ours, expected)
    assert largest_difference(after_merge, expected) < 2e-5, largest_difference(after_merge, expected)
    print(f"{name}: log-probs of PEFT's adapter differ by at most {largest_difference(ours, expected):.1e}, "
          f"merged by {largest_difference(after_merge, expected):.1e}")


def make_checkpoint(program, folder):
    run = os.path.join(folder, "run")
    subprocess.run([program, "train", "tests/tools/small.yaml", "--set", f"run.directory={run}", "--set", "run.steps=2",
                    "--set", "model.lora.rank=4", "--set", "optimizer.learning_rate=1e-2"], check=True,
                   capture_output=True)
    return os.path.join(run, "checkpoints/step-000002")


def check_checkpoint(program, checkpoint):
    base = AutoModelForCausalLM.from_pretrained(json.load(open(os.path.join(checkpoint, "adapter_config.json")))
                                                ["base_model_name_or_path"])
    model = PeftModel.from_pretrained(base, checkpoint)
    assert not any("missing" in line for line in map(str, model.peft_config.values()))
    stored = {name for name in model.state_dict() if "lora_" in name}
    from safetensors import safe_open
    with safe_open(os.path.join(checkpoint, "adapter_model.safetensors"), "pt") as file:
        names = {name.replace(".weight", ".default.weight") for name in file.keys()}
        assert names == stored, names ^ stored
        for name in file.keys():
            loaded = model.state_dict()[name.replace(".weight", ".default.weight")]
            assert torch.equal(file.get_tensor(name), loaded), name
        assert any(file.get_tensor(name).abs().max() > 0 for name in file.keys() if "lora_B" in name)
        assert len(file.metadata()["base_model_sha256"]) == 64
    prompt, response = [1, 5, 9, 4, 7, 3], [2, 6, 8, 11, 10, 12, 1, 2, 3]
    expected, ours = log_probs(model, prompt, response), scores(program, checkpoint, prompt, response)
    assert largest_difference(ours, expected) < 2e-5, largest_difference(ours, expected)
    print(f"{checkpoint}: PEFT loads {len(names)} tensors; log-probs differ by at most "
          f"{largest_difference(ours, expected):.1e}")


def main():
    program = os.path.join(sys.argv[1], "lie_cluster")
    for case in CASES:
        check_adapter_of_peft(program, *case)
    with tempfile.TemporaryDirectory() as folder:
        for checkpoint in sys.argv[2:] or [make_checkpoint(program, folder)]:
            check_checkpoint(program, checkpoint)


if __name__ == "__main__":
    main()
