"""Times Math-Verify on the pairs that `verifier_bench --pairs FILE` wrote: parse + verify, one core, cold caches."""
import collections
import time

import peer


def main():
    parser = peer.arguments(__doc__)
    parser.add_argument("pairs", type=peer.existing)
    parser.add_argument("limit", type=peer.positive, nargs="?", default=10**9, help="pairs per set")
    args = parser.parse_args()
    math_verify = peer.package("math_verify")

    def judge(pair):
        return math_verify.verify(math_verify.parse("$" + pair["gold"] + "$"), math_verify.parse(pair["response"]))

    sets = collections.defaultdict(list)
    for pair in peer.rows(args.pairs, "set", "gold", "response"):
        if len(sets[pair["set"]]) < args.limit:
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
