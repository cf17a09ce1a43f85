"""Log-probs, entropies and weight gradients of tiny models from transformers in float64.

Run: python make_transformer_golden.py [CASE ...]    (torch, transformers)
Writes transformer_<case>.golden: text lines, an empty line, then little-endian float32 in the order of the lines.
  config <key> <value>
  tokens / starts / rows / targets <integers>
  tensor <name> <count>            log_probs, entropies, d_log_probs, d_entropies, then d:<parameter> per parameter
(transformers itself computes norms, angles and softmax in float32 even in a float64 model.)
Weights are not stored, since both sides derive them from the parameter's name (see values()).
"""

import sys

import numpy as np
import torch
from transformers import (LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM)

SHAPE = dict(vocab_size=45, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, head_dim=16, max_position_embeddings=64, rope_theta=10000.0,
             rms_norm_eps=1e-6)
# Of the eight frequencies of a head, one is unchanged, two are interpolated, the others are divided by the factor.
LLAMA3 = dict(factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=48)
CASES = {
    "qwen3_tied": (Qwen3Config, Qwen3ForCausalLM, dict(tie_word_embeddings=True)),
    "qwen3_untied": (Qwen3Config, Qwen3ForCausalLM, dict(tie_word_embeddings=False)),
    "llama_untied": (LlamaConfig, LlamaForCausalLM, dict(tie_word_embeddings=False)),
    "llama3_rope_bias": (LlamaConfig, LlamaForCausalLM, dict(
        tie_word_embeddings=True, attention_bias=True,
        rope_parameters=dict(rope_type="llama3", rope_theta=SHAPE["rope_theta"], **LLAMA3))),
    "qwen3_bias": (Qwen3Config, Qwen3ForCausalLM, dict(tie_word_embeddings=True, attention_bias=True)),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, dict(tie_word_embeddings=True)),
}
TEMPERATURE = 0.7


def values(name, count):
    """Uniform in [-0.5, 0.5), 24 bits: splitmix64 of the FNV-1a hash of the name plus the index."""
    seed = np.uint64(14695981039346656037)
    with np.errstate(over="ignore"):
        for byte in name.encode():
            seed = (seed ^ np.uint64(byte)) * np.uint64(1099511628211)
        z = seed + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / 2**24 - 0.5


def weight(name, shape):
    x = values(name, int(np.prod(shape)))
    # Wide enough that attention and feed-forward are far from linear.
    x = 1.0 + x if len(shape) == 1 else x * (2.0 / np.sqrt(shape[-1])) * 1.5
    return torch.tensor(x.astype(np.float32).astype(np.float64).reshape(shape))


def batch():
    lengths = [5, 1, 33, 18]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    total = int(starts[-1])
    tokens = ((values("tokens", total) + 0.5) * SHAPE["vocab_size"]).astype(int)
    rows = [t for s, e in zip(starts[:-1], starts[1:]) for t in range(s, e - 1) if t - s >= (e - s) // 4]
    targets = [int(tokens[r + 1]) for r in rows]
    return tokens, starts, rows, targets


def run(case):
    config_class, model_class, extra = CASES[case]
    torch.set_default_dtype(torch.float64)
    config = config_class(**SHAPE, **extra)
    config._attn_implementation = "eager"
    model = model_class(config)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(weight(name, tuple(p.shape)))
    tokens, starts, rows, targets = batch()
    logits = torch.cat([model(torch.tensor(tokens[s:e])[None], use_cache=False).logits[0]
                        for s, e in zip(starts[:-1], starts[1:])])
    log_p = torch.log_softmax(logits.double()[rows] / TEMPERATURE, -1)
    log_probs = log_p[torch.arange(len(rows)), targets]
    entropies = -(log_p.exp() * log_p).sum(-1)
    d_log_probs = values("d_log_probs", len(rows)).astype(np.float32)
    d_entropies = values("d_entropies", len(rows)).astype(np.float32)
    loss = (log_probs * torch.tensor(d_log_probs.astype(np.float64))).sum()
    loss = loss + (entropies * torch.tensor(d_entropies.astype(np.float64))).sum()
    loss.backward()

    lines = [f"config {k} {v}" for k, v in SHAPE.items()]
    lines += [f"config tied {int(extra['tie_word_embeddings'])}",
              f"config qk_norm {int(config_class is Qwen3Config)}", f"config temperature {TEMPERATURE}"]
    for part, name in dict(qkv="q_proj", output="o_proj").items():
        if any(p.endswith(name + ".bias") for p, _ in model.named_parameters()):
            lines.append(f"config {part}_bias 1")
    if "rope_parameters" in extra:
        lines += [f"config llama3_{key} {value}" for key, value in LLAMA3.items()]
    for key, ints in dict(tokens=tokens, starts=starts, rows=rows, targets=targets).items():
        lines.append(key + " " + " ".join(str(int(i)) for i in ints))
    tensors = dict(log_probs=log_probs.detach().numpy(), entropies=entropies.detach().numpy(),
                   d_log_probs=d_log_probs, d_entropies=d_entropies)
    tensors |= {"d:" + name: p.grad.numpy() for name, p in model.named_parameters()}
    lines += [f"tensor {name} {x.size}" for name, x in tensors.items()]
    with open(f"transformer_{case}.golden", "wb") as f:
        f.write(("\n".join(lines) + "\n\n").encode())
        for x in tensors.values():
            f.write(np.ascontiguousarray(x.reshape(-1), dtype="<f4").tobytes())
    print(case, float(loss), float(log_probs.min()), float(log_probs.max()), float(entropies.mean()))


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        run(case)
