#!/usr/bin/env python3
"""Tests kernel_bench without a GPU: its expectations against figures calculated by hand, and its program on an emulated device.

    kernel_bench_test.py expectations|emulated KERNEL_BENCH
"""
import re
import subprocess
import sys

FIELDS = ("result", "figure", "unit", "share", "expected", "us")
COPY_H100, COPY_H200 = 3015, 4320  # GB/s: 0.9 of 3350 and of 4800
MATMUL = 692.3  # TFLOP/s: 0.7 of 989

# Calculated by hand. Microseconds: bytes / 3015e3, or operations / 692.3e6, or 2.5 a kernel.
EXPECTED = {
    "1.7b": {
        "H100 SXM 1.7b: copy": (COPY_H100, "GB/s", 712.3),  # 2 x 4 bytes x 2^28 = 2147.5e6
        "H200 1.7b: copy": (COPY_H200, "GB/s", 497.1),
        "H200 1.7b: matmul": (MATMUL, "TFLOP/s", 1588),  # 2 x 8192^3 = 1.0995e12
        # 16 x 2048 x 2 bytes, read and written: 131,072 bytes in 2.5 us
        "H100 SXM 1.7b: norm, 16 rows": (52.43, "GB/s", 2.5),
        "H100 SXM 1.7b: norm, 16384 rows": (COPY_H100, "GB/s", 44.52),  # 134.2e6 bytes
        "H100 SXM 1.7b: SwiGLU backward, 16384 rows": (COPY_H100, "GB/s", 400.6),  # 16384 x 6144 x 12 = 1207.96e6
        # weight 4096 x 2048 and 16 rows of 2048 + 4096, 2 bytes each: 16.974e6
        "H100 SXM 1.7b: qkv, 16 rows": (COPY_H100, "GB/s", 5.630),
        # 256 rows are limited by bytes: (12288 x 2048 + 256 x 14336) x 2 = 57.67e6; 2 x 256 x 25.17e6 = 12.885e9 operations
        "H100 SXM 1.7b: gate and up, 256 rows": (673.6, "TFLOP/s", 19.13),
        "H200 1.7b: gate and up, 256 rows": (MATMUL, "TFLOP/s", 18.61),  # there by operations
        # logits of 4 bytes are read and written: 4096 x 151936 x 8 = 4978.6e6
        "H100 SXM 1.7b: log-probs backward, 4096 rows": (COPY_H100, "GB/s", 1651),
        "H200 1.7b: AdamW": (COPY_H200, "GB/s", 1740),  # 28 x 2^28 = 7516.2e6
        # 4096 bytes a position and layer: 64 x 8192 x 4096 = 2147.5e6, and queries and output .5e6
        "H100 SXM 1.7b: attention over pages, batch 64, context 8192": (COPY_H100, "GB/s", 712.4),
        # 2 x 16384^2 x 2048 operations: half of 4 x T^2 x H x E
        "H100 SXM 1.7b: training attention, 1 x 16384 tokens": (MATMUL, "TFLOP/s", 1588),
        # weights 2 x 1.7205e9 = 3.441e9 bytes, cache 28 x 4096 x 64 x 8192 = 60.13e9
        "H200 1.7b: decode step, batch 64, context 8192": (COPY_H200, "GB/s", 14716),
        # 6 x 16384 x 1.7205e9 = 169.13e12; attention 28 layers x 1.0995e12 x 3.5 = 107.75e12
        "H100 SXM 1.7b: forward and backward, 16384 tokens": (MATMUL, "TFLOP/s", 399.9e3),
        # 2 x 8192 x 1.4093e9 (without the head) = 23.09e12; attention 28 layers x 2 x 8192^2 x 2048 = 7.70e12
        "H200 1.7b: re-reading a response, 8192 tokens": (MATMUL, "TFLOP/s", 44.47e3),
    },
    "4b": {
        # (2560 x (32 + 16) x 128 + 32 x 128 x 2560 + 3 x 2560 x 9728) x 36 + 151936 x 2560 = 4.0223e9 weights
        "H100 SXM 4b: decode step, batch 16, context 512": (COPY_H100, "GB/s", 3069),  # 8.0446e9 + 1.2080e9 bytes
        "H200 4b: head, 16 rows": (COPY_H200, "GB/s", 182.3),  # 777.9e6 + 81.9e3 + 16 x 151936 x 4 bytes
    },
}


def lines(program, *arguments):
    output = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    split = [line.split("|") for line in output.splitlines()]
    assert all(len(fields) == 1 + len(FIELDS) for fields in split), output
    found = {fields[0]: dict(zip(FIELDS, fields[1:])) for fields in split}
    assert len(found) == len(split), "two lines have one name"
    return found


def check_close(name, got, expected):
    assert abs(float(got) / expected - 1) < 1e-3, f"{name}: {got}, expected {expected}"


def kind(name):
    return re.sub(r"[0-9.]+", "", name.split(": ", 1)[1])


def expectations(program):
    for model, expected in EXPECTED.items():
        found = lines(program, "--model", model)
        assert {line["result"] for line in found.values()} == {"EXPECTED"}
        for name, (figure, unit, microseconds) in expected.items():
            line = found[name]
            assert line["unit"] == unit, (name, line)
            check_close(name, line["figure"], figure)
            check_close(name, line["expected"], figure)
            check_close(name, line["us"], microseconds)
    head = lines(program, "--section", "head,optimizer")
    assert "H200 1.7b: AdamW" in head and "H200 1.7b: norm, 16 rows" not in head


def emulated(program):
    found = lines(program, "--device", "emulated")
    for name, line in found.items():
        assert line["result"] in ("MEASURED", "SKIP"), (name, line)
        assert (line["result"] == "SKIP") == ("CUDA graph" in name), (name, line)
        assert line["figure"] == "-" or float(line["us"]) > 0, (name, line)
    # Everything that is expected of a card is measured, with other numbers in its name.
    expected = {kind(name) for name in lines(program)}
    assert expected <= {kind(name) for name in found}, expected - {kind(name) for name in found}


if __name__ == "__main__":
    {"expectations": expectations, "emulated": emulated}[sys.argv[1]](sys.argv[2])
