"""Golden bits of AdamW with bfloat16 moments, by NumPy in fp32.

    python tests/learner/trainer/make_moments_golden.py > tests/learner/trainer/moments_golden.h

Each operation is rounded to fp32 on its own, as in the program. The rounding bits of the moments come
from splitmix64's mixing function of (update, element).
"""
import numpy as np

UPDATES, ELEMENTS, FIRST = 12, 24, 40_000_000_000  # the first element's index exceeds 32 bits
RATE, BETA1, BETA2, EPS, DECAY = 0.01, 0.9, 0.999, 1e-8, 0.1
f = np.float32


def rounding_bits(update, elements):
    with np.errstate(over="ignore"):
        x = elements.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = x + np.uint64(update) * np.uint64(0xD1B54A32D192ED03)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((x ^ (x >> np.uint64(31))) >> np.uint64(32)).astype(np.uint32)


def rounded(values, random):
    """Rounds away from zero with the probability of the discarded part."""
    bits = values.view(np.uint32).astype(np.uint64) + (random & 0xFFFF).astype(np.uint64)
    return (bits >> np.uint64(16)).astype(np.uint16)


def widened(stored):
    return (stored.astype(np.uint32) << np.uint32(16)).view(f)


def array(kind, name, values):
    print(f"inline constexpr {kind} {name}[] = {{{', '.join(values)}}};")


generator = np.random.default_rng(11)
gradients = generator.normal(0, 1, (UPDATES, ELEMENTS)).astype(f)
gradients[:, 0] = f(0.001)  # a constant gradient
weights = generator.normal(0, 1, ELEMENTS).astype(f)
start = weights.copy()
first = np.zeros(ELEMENTS, np.uint16)
second = np.zeros(ELEMENTS, np.uint16)
elements = FIRST + np.arange(ELEMENTS)
for k in range(1, UPDATES + 1):
    c1, c2 = 1 - BETA1**k, 1 - BETA2**k
    g = gradients[k - 1] * f(1)
    m = f(BETA1) * widened(first) + f(1 - BETA1) * g
    v = f(BETA2) * widened(second) + f(1 - BETA2) * (g * g)
    divisor = np.sqrt(v) / f(np.sqrt(c2)) + f(EPS)
    weights = f(1 - RATE * DECAY) * weights - f(RATE / c1) * (m / divisor)
    random = rounding_bits(k, elements)
    first, second = rounded(m, random), rounded(v, random >> np.uint32(16))

print("// Made by make_moments_golden.py; do not edit.")
print("#pragma once\n\n#include <cstdint>\n\nnamespace lie::golden {\n// clang-format off")
print(f"inline constexpr std::int64_t kMomentsUpdates = {UPDATES}, kMomentsElements = {ELEMENTS};")
print(f"inline constexpr std::int64_t kMomentsFirstElement = {FIRST};")
array("float", "kMomentsGradients", [f"{float(x).hex()}F" for x in gradients.ravel()])
array("float", "kMomentsStart", [f"{float(x).hex()}F" for x in start])
array("float", "kMomentsWeights", [f"{float(x).hex()}F" for x in weights])
array("std::uint16_t", "kMomentsFirst", [str(x) for x in first])
array("std::uint16_t", "kMomentsSecond", [str(x) for x in second])
print("// clang-format on\n}  // namespace lie::golden")
