"""The counter-based random numbers of the C++ programs (common/base/random.h), vectorized."""
import numpy as np

# The other streams are in random.h. There 6 draws for token rules: no program draws for both.
BOOTSTRAP_STREAM, JUDGE_STREAM = 5, 6
_MASK, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85


def random_bits(seed, stream, step=0, problem=0, sample=0, index=0):
    """Returns 64 uniform random bits for each key by Philox 4x32-10 (Salmon et al., SC 2011). `seed` and `stream` are
    integers. The others are integers or arrays that broadcast, of which the low 32 bits count."""
    words = np.broadcast_arrays(step, problem, np.asarray(sample) ^ (stream << 24), index)
    a, b, c, d = (word.astype(np.uint64) & _MASK for word in words)
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        first, second = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, b = second >> _SHIFT ^ b ^ np.uint64(key[0]), second & _MASK
        c, d = first >> _SHIFT ^ d ^ np.uint64(key[1]), first & _MASK
        key = [(k + weyl) & 0xFFFFFFFF for k, weyl in zip(key, _WEYL)]
    return b << _SHIFT | a


def random_below(bits, count):
    """Maps 64 random bits to integers in [0, count), count < 2^32: the high word of the 128-bit product."""
    count = np.uint64(count)
    return (((bits >> _SHIFT) * count + ((bits & _MASK) * count >> _SHIFT)) >> _SHIFT).astype(np.int64)
