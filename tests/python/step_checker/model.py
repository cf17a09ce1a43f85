"""A transformer of the Qwen3 family (arXiv:2505.09388) in float64, from a directory of Hugging Face files."""
import json

import numpy as np
import torch
from torch.nn.functional import linear, silu



def read_safetensors(path):
    """Returns the tensors of a float32 file by name. The file begins with the size of a JSON header and this header."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]],
                                np.float32).reshape(entry["shape"]) for name, entry in header.items()}


def read_tensors(directory, stem):
    """Returns the tensors in float64 of all files of a checkpoint whose names begin with `stem`. Files of several
    learners may hold consecutive parts of a tensor."""
    parts = {}
    for path in sorted(directory.glob(f"{stem}*.safetensors")):
        for name, values in read_safetensors(path).items():
            parts.setdefault(name, []).append(torch.tensor(values, dtype=torch.float64))
    return {name: found[0] if len(found) == 1 else torch.cat([part.flatten() for part in found])
            for name, found in parts.items()}


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def rotate(x, theta):
    """Applies rotary position embeddings to x, [B, heads, T, D]: the halves of a head are the two coordinates."""
    half = x.shape[-1] // 2
    frequency = theta ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.outer(torch.arange(x.shape[2], dtype=torch.float64), frequency)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin()), -1)


class Model:
    """A policy with the weights of a checkpoint directory, or of a dict of tensors."""

    def __init__(self, directory, tensors=None):
        self.config = json.loads((directory / "config.json").read_text())
        tensors = read_tensors(directory, "model") if tensors is None else tensors
        self.weights = {name: value.clone().requires_grad_() for name, value in tensors.items()}

    def _heads(self, x, layer, name, count):
        """Projects to heads, [B, heads, T, D]. Queries and keys have a norm."""
        x = linear(x, self.weights[f"{layer}.self_attn.{name}_proj.weight"]).unflatten(-1, (count, -1))
        norm = self.weights.get(f"{layer}.self_attn.{name}_norm.weight")
        return (x if norm is None else rms_norm(x, norm, self.config["rms_norm_eps"])).transpose(1, 2)

    def _attention(self, x, layer):
        heads, kv_heads = self.config["num_attention_heads"], self.config["num_key_value_heads"]
        query = rotate(self._heads(x, layer, "q", heads), self.config["rope_theta"])
        key = rotate(self._heads(x, layer, "k", kv_heads), self.config["rope_theta"])
        key, value = (part.repeat_interleave(heads // kv_heads, 1) for part in (key, self._heads(x, layer, "v", kv_heads)))
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(future, -torch.inf).softmax(-1) @ value
        return linear(mixed.transpose(1, 2).flatten(2), self.weights[f"{layer}.self_attn.o_proj.weight"])

    def _mlp(self, x, layer):
        gate, up, down = (self.weights[f"{layer}.mlp.{name}_proj.weight"] for name in ("gate", "up", "down"))
        return linear(silu(linear(x, gate)) * linear(x, up), down)

    def logits(self, ids):
        """Returns the logits, [B, T, V], of token ids, [B, T]. Padding after a sequence does not affect it."""
        embedding, eps = self.weights["model.embed_tokens.weight"], self.config["rms_norm_eps"]
        x = embedding[ids]
        for number in range(self.config["num_hidden_layers"]):
            layer = f"model.layers.{number}"
            x = x + self._attention(rms_norm(x, self.weights[f"{layer}.input_layernorm.weight"], eps), layer)
            x = x + self._mlp(rms_norm(x, self.weights[f"{layer}.post_attention_layernorm.weight"], eps), layer)
        return linear(rms_norm(x, self.weights["model.norm.weight"], eps), self.weights.get("lm_head.weight", embedding))

    def log_probs(self, batch, temperature):
        """Returns the log-probs of the responses' tokens and the entropies there, both [N, T]; 0 beyond a response."""
        all_log_probs = (self.logits(batch.sequences)[:, :-1] / temperature).log_softmax(-1)
        token_log_probs = all_log_probs.gather(-1, batch.sequences[:, 1:, None]).squeeze(-1)
        entropies = -(all_log_probs.exp() * all_log_probs).sum(-1)
        return batch.responses_of(token_log_probs), batch.responses_of(entropies)
