"""NF4 codes, scales and weights of bitsandbytes for blocks of 64.

Run: python make_nf4_golden.py    (torch, bitsandbytes)
Writes nf4.golden, a line for each block: the bits of its weights, of its scale and of its dequantized weights as
hexadecimal fp32, and its codes as hexadecimal bytes. The blocks are normal numbers of several magnitudes, zeros, midpoints
between two values of NF4, and weights of bf16.
"""
import numpy as np
import torch
from bitsandbytes.functional import dequantize_4bit, get_4bit_type, quantize_4bit

BLOCK = 64


def blocks():
    torch.manual_seed(1)
    values = get_4bit_type("nf4", device="cpu")
    middles = torch.cat([(values[:-1] + values[1:]) / 2, torch.tensor([1.0])])
    near = torch.cat([middles, torch.nextafter(middles, torch.tensor(2.0)), torch.nextafter(middles, torch.tensor(-2.0)),
                      values])
    made = [torch.randn(BLOCK) * scale for scale in (1, 0.02, 1e-6, 1e-39, 3e4)]
    made += [torch.zeros(BLOCK), near.clamp(-1, 1), near.clamp(-1, 1) * 0.37, -torch.ones(BLOCK)]
    made += [(torch.randn(BLOCK) * 0.05).bfloat16().float() for _ in range(4)]
    return torch.stack(made)


def bits(row):
    return row.numpy().astype("<f4").view("<u4")


def main():
    weights = blocks()
    codes, state = quantize_4bit(weights, blocksize=BLOCK, quant_type="nf4", compress_statistics=False)
    back = dequantize_4bit(codes, state).reshape(weights.shape)
    assert back.dtype == torch.float32
    codes = codes.reshape(len(weights), BLOCK // 2).numpy()
    with open("nf4.golden", "w") as out:
        for row, scale, code, widened in zip(weights, state.absmax, codes, back):
            columns = [bits(row), bits(scale.reshape(1)), bits(widened)]
            out.write(" ".join("".join(f"{word:08x}" for word in column) for column in columns)
                      + " " + bytes(np.asarray(code, dtype=np.uint8)).hex() + "\n")


if __name__ == "__main__":
    main()
