"""Times Math-Verify on the pairs that `verifier_bench --pairs FILE` wrote: parse + verify, one core, cold caches.

Usage: python verifier_bench.py FILE [pairs per set]
"""
import collections
import json
import sys
import time

from math_verify import parse, verify


def judge(pair):
    gold = parse("$" + pair["gold"] + "$")
    answer = parse(pair["response"])
    return verify(gold, answer)


def main():
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 10**9
    sets = collections.defaultdict(list)
    with open(sys.argv[1]) as lines:
        for line in lines:
            pair = json.loads(line)
            if len(sets[pair["set"]]) < limit:
                sets[pair["set"]].append(pair)
    for name, pairs in sets.items():
        times, right = [], 0
        for pair in pairs:
            start = time.perf_counter()
            right += bool(judge(pair))
            times.append(time.perf_counter() - start)
        total = sum(times)
        times.sort()
        print(
            f"{name}: {len(pairs)} pairs, {right} right, {len(pairs) / total:.0f} pairs/s, "
            f"median {1e6 * times[len(times) // 2]:.0f} us, p99 {1e6 * times[len(times) * 99 // 100]:.0f} us, "
            f"worst {1e6 * times[-1]:.0f} us",
            flush=True,
        )


if __name__ == "__main__":
    main()
