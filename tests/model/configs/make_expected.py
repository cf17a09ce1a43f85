#!/usr/bin/env python3
"""Writes an expected.json for each config.json here: the shapes in transformers, computed without allocating memory.

    make_expected.py      (needs torch and transformers; the files are in the repository)

Keys: `parameters`, their number; `layer`, the shape of each tensor of a layer, which is equal in all layers; `others`,
the shapes of all other tensors; `inverse_frequencies`, radians per position of the rotary embedding in float32.
"""
import glob
import json
import os
import re

import torch
from transformers import AutoConfig, AutoModelForCausalLM


def expected(folder):
    config = AutoConfig.from_pretrained(folder)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    layers, others = {}, {}
    for name, parameter in model.named_parameters():
        match = re.fullmatch(r"model\.layers\.(\d+)\.(.*)", name)
        place = layers.setdefault(int(match[1]), {}) if match else others
        place[match[2] if match else name] = list(parameter.shape)
    assert sorted(layers) == list(range(config.num_hidden_layers)) and all(layer == layers[0] for layer in layers.values())
    rotary = type(model.model.rotary_emb)(config)
    return {"parameters": sum(p.numel() for p in model.parameters()), "layers": len(layers), "layer": layers[0],
            "others": others, "inverse_frequencies": rotary.inv_freq.tolist()}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(here, "*", "config.json"))):
        folder = os.path.dirname(path)
        with open(os.path.join(folder, "expected.json"), "w") as out:
            json.dump(expected(folder), out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
