"""Log-probs, gradients and one AdamW step of LoRA adapters from PEFT in float64.

Run: python make_lora_golden.py [CASE ...]    (torch, transformers, peft; bitsandbytes for an NF4 base)
Writes lora_<case>.golden in the format of make_transformer_golden.py, with these additions:
  config lora_rank / lora_alpha <value>, config lora_target_<module> 1
  config lora_nf4 1          the linear layers of the base are what bitsandbytes dequantizes
  tensor d:<parameter>       gradients of the adapter, by the names that PEFT saves
  tensor after:<parameter>   the adapter after clip_grad_norm_ and one step of torch.optim.AdamW
  tensor base_log_probs      those of the base with the adapter disabled
  tensor merged:<parameter>  the base's matrices after merge_and_unload, the first layer's only
Weights of base and adapter are not stored, since both sides derive them from the parameter's name.
"""

import sys

import numpy as np
import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict

from make_transformer_golden import CASES as MODELS
from make_transformer_golden import LLAMA3, SHAPE, TEMPERATURE, batch, values, weight
from transformers import Qwen3Config

ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
CASES = {  # model, rank, alpha, targets
    "qwen3_all": ("qwen3_tied", 4, 8, ALL),
    "qwen3_untied_some": ("qwen3_untied", 3, 7, ["k_proj", "o_proj", "up_proj"]),
    "llama_bias_qv": ("llama3_rope_bias", 8, 8, ["q_proj", "v_proj"]),
    "qwen2_wide": ("qwen2", 20, 16, ALL),
    "qwen3_nf4": ("qwen3_untied", 3, 7, ["k_proj", "o_proj", "down_proj"]),
}
# With the usual eps of 1e-8 a step from a gradient near 0 would depend on its rounding.
STEP = dict(lr=1e-2, betas=(0.9, 0.999), eps=1e-5, weight_decay=0.1)
MAX_NORM = 1.0


def scored(model, tokens, starts, rows, targets):
    logits = torch.cat([model(torch.tensor(tokens[s:e])[None], use_cache=False).logits[0]
                        for s, e in zip(starts[:-1], starts[1:])])
    log_p = torch.log_softmax(logits.double()[rows] / TEMPERATURE, -1)
    return log_p[torch.arange(len(rows)), targets], -(log_p.exp() * log_p).sum(-1)


def dequantized(weights):
    """What NF4 makes of float32 numbers, in float64."""
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit
    codes, state = quantize_4bit(weights.float(), blocksize=64, quant_type="nf4", compress_statistics=False)
    return dequantize_4bit(codes, state).reshape(weights.shape).double()


def run(case):
    name, rank, alpha, targets = CASES[case]
    has_nf4 = case.endswith("nf4")
    config_class, model_class, extra = MODELS[name]
    torch.set_default_dtype(torch.float64)
    config = config_class(**SHAPE, **extra)
    config._attn_implementation = "eager"
    base = model_class(config)
    with torch.no_grad():
        for parameter, p in base.named_parameters():
            p.copy_(weight(parameter, tuple(p.shape)))
            if has_nf4 and parameter.endswith("_proj.weight"):
                p.copy_(dequantized(p))
    model = get_peft_model(base, LoraConfig(r=rank, lora_alpha=alpha, target_modules=targets,
                                            lora_dropout=0.0, task_type="CAUSAL_LM"),
                           autocast_adapter_dtype=False)
    adapter = {n.replace(".default.", "."): p for n, p in model.named_parameters() if p.requires_grad}
    assert sorted(adapter) == sorted(get_peft_model_state_dict(model)), "names of the saved adapter"
    with torch.no_grad():
        for parameter, p in adapter.items():
            p.copy_(weight(parameter, tuple(p.shape)))
    tokens, starts, rows, targets_of_rows = batch()
    log_probs, entropies = scored(model, tokens, starts, rows, targets_of_rows)
    with model.disable_adapter(), torch.no_grad():
        base_log_probs, _ = scored(model, tokens, starts, rows, targets_of_rows)
    d_log_probs = values("d_log_probs", len(rows)).astype(np.float32)
    d_entropies = values("d_entropies", len(rows)).astype(np.float32)
    loss = (log_probs * torch.tensor(d_log_probs.astype(np.float64))).sum()
    loss = loss + (entropies * torch.tensor(d_entropies.astype(np.float64))).sum()
    loss.backward()

    lines = [f"config {k} {v}" for k, v in SHAPE.items()]
    lines += [f"config tied {int(extra['tie_word_embeddings'])}",
              f"config qk_norm {int(config_class is Qwen3Config)}", f"config temperature {TEMPERATURE}",
              f"config lora_rank {rank}", f"config lora_alpha {alpha}"]
    lines += [f"config lora_target_{target} 1" for target in targets]
    if has_nf4:
        lines.append("config lora_nf4 1")
    for part, module in dict(qkv="q_proj", output="o_proj").items():
        if any(p.endswith(module + ".bias") or p.endswith(module + ".base_layer.bias")
               for p, _ in model.named_parameters()):
            lines.append(f"config {part}_bias 1")
    if "rope_parameters" in extra:
        lines += [f"config llama3_{key} {value}" for key, value in LLAMA3.items()]
    for key, ints in dict(tokens=tokens, starts=starts, rows=rows, targets=targets_of_rows).items():
        lines.append(key + " " + " ".join(str(int(i)) for i in ints))
    tensors = dict(log_probs=log_probs.detach(), entropies=entropies.detach(), base_log_probs=base_log_probs,
                   d_log_probs=d_log_probs, d_entropies=d_entropies)
    tensors |= {"d:" + n: p.grad.clone() for n, p in adapter.items()}
    merged = merged_of(model, base, targets)
    torch.nn.utils.clip_grad_norm_(list(adapter.values()), MAX_NORM)
    torch.optim.AdamW(list(adapter.values()), **STEP).step()
    tensors |= {"after:" + n: p.detach() for n, p in adapter.items()} | merged
    lines += [f"tensor {n} {np.asarray(x).size}" for n, x in tensors.items()]
    with open(f"lora_{case}.golden", "wb") as f:
        f.write(("\n".join(lines) + "\n\n").encode())
        for x in tensors.values():
            f.write(np.ascontiguousarray(np.asarray(x).reshape(-1), dtype="<f4").tobytes())
    print(case, float(loss), float(log_probs.min()), float(log_probs.max()), float(entropies.mean()))


def merged_of(model, base, targets):
    """W + scale B A of the first layer, as merge_and_unload adds it; leaves the model as it is."""
    found = {}
    for name, module in base.named_modules():
        if name.startswith("model.layers.0.") and name.split(".")[-1] in targets:
            delta = module.get_delta_weight("default")
            found[f"merged:{name}.weight"] = (module.base_layer.weight + delta).detach()
    return found


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        run(case)
