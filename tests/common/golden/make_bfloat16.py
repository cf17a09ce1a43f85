"""Writes bfloat16.jsonl: fp32 numbers and their bf16 roundings by PyTorch, both as bits.

    python3 tests/common/golden/make_bfloat16.py > tests/common/golden/bfloat16.jsonl        (needs: pip install torch)
"""

import json
import random

import torch

NAMED = {
    "zero": [0x00000000],
    "numbers that bf16 has": [0x3F800000, 0x40490000, 0x00010000, 0x00800000, 0x7F7F0000],
    "ties": [0x3F808000, 0x3F818000, 0x40488000, 0x40498000, 0x7F7E8000],
    "beside ties": [0x3F807FFF, 0x3F808001, 0x3F817FFF, 0x3F818001],
    "carried into the exponent": [0x3FFF8000, 0x3FFFFFFF, 0x00FFC000],
    "subnormal": [0x00000001, 0x00007FFF, 0x00008000, 0x00008001, 0x00018000, 0x007FFFFF, 0x007F8000, 0x007F7FFF],
    "infinite": [0x7F800000],
    "beyond the largest": [0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF],
    "not a number": [0x7F800001, 0x7F807FFF, 0x7F808000, 0x7FC00000, 0x7FFF8000, 0x7FFFFFFF],
}
draw = random.Random(1)
NAMED["random"] = [draw.randrange(0x7F800000) for _ in range(64)]

for name, positive in NAMED.items():
    fp32 = positive + [bits | 0x80000000 for bits in positive]
    signed = torch.tensor([bits - (bits >> 31 << 32) for bits in fp32], dtype=torch.int32)
    bf16 = signed.view(torch.float32).to(torch.bfloat16).view(torch.int16)
    print(json.dumps({"name": name, "fp32": fp32, "bf16": [bits & 0xFFFF for bits in bf16.tolist()]}))
