"""Measures what the verifier accepts: golds of the shared problem sets against golds of other problems and against small
mutations of themselves.

Prints the numbers of pairs and of accepted pairs by kind. Writes every accepted pair to ACCEPTS.tsv for review, because
some mutations are still right ((a, a) swapped, -0).
"""
import collections
import json
import pathlib
import random
import re
import subprocess

import peer


def golds(data):
    sets = collections.defaultdict(dict)  # ordered and unique
    for path in sorted((data / "problems").glob("*.jsonl")):
        if "model_solutions" in path.name:
            continue
        for row in peer.rows(path):
            gold = row.get("final_answer") or row.get("answer") or row.get("solution")
            gold = gold[0] if isinstance(gold, list) else gold
            if gold is None:
                continue
            gold = str(gold)
            if "#### " in gold:
                gold = gold.rsplit("#### ", 1)[1]
            if "\\boxed{" in gold:
                gold = box(gold)
            if gold and gold.strip():
                sets[path.stem][gold.strip()] = True
    try:
        import pyarrow.parquet as parquet

        for path in sorted((data / "lie").rglob("*.parquet")):
            for row in parquet.read_table(path, columns=["reward_model"]).to_pylist():
                gold = str(row["reward_model"]["ground_truth"]).strip()
                if gold:
                    sets[path.stem][gold] = True
    except ImportError:
        print("no pyarrow: data/lie left out")
    return {name: list(unique) for name, unique in sets.items()}


def box(text):
    begin = text.rfind("\\boxed{") + 7
    depth, i = 1, begin
    while i < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        i += 1
    return text[begin : i - 1] if depth == 0 else ""


def digits(gold, rng):
    places = [m.start() for m in re.finditer(r"\d", gold)]
    for at in rng.sample(places, min(2, len(places))):
        yield gold[:at] + str((int(gold[at]) + rng.randint(1, 9)) % 10) + gold[at + 1 :]


def signs(gold, rng):
    yield gold[1:] if gold.startswith("-") else "-" + gold
    inner = [m.start() for m in re.finditer(r"(?<=.)[+-]", gold)]
    for at in rng.sample(inner, min(1, len(inner))):
        yield gold[:at] + ("-" if gold[at] == "+" else "+") + gold[at + 1 :]


def terms(gold, rng):
    """Returns the text without one term of a sum, or without one element of a list."""
    depth, cuts = 0, []
    for i, c in enumerate(gold):
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(c, 0)
        if depth == 0 and c in "+-," and 0 < i < len(gold) - 1:
            cuts.append(i)
    if cuts:
        yield gold[: rng.choice(cuts)]


def operators(gold, rng):
    places = [m for m in re.finditer(r"(?<=.)[+\-*/]|\\cdot|\\times|\\cup|\\le(?!f)|\\ge|<|>", gold)]
    if places:
        m = rng.choice(places)
        other = {"+": "\\cdot ", "-": "\\cdot ", "*": "+", "/": "+", "\\cdot": "+", "\\times": "+", "\\cup": "\\cap",
                 "\\le": "<", "\\ge": ">", "<": "\\le ", ">": "\\ge "}[m.group()]
        yield gold[: m.start()] + other + gold[m.end() :]


def brackets(gold, rng):
    m = re.fullmatch(r"([(\[])(.*,.*)([)\]])", gold, re.S)
    if m:
        yield {"(": "[", "[": "("}[m[1]] + m[2] + m[3]
        yield m[1] + m[2] + {")": "]", "]": ")"}[m[3]]


def swaps(gold, rng):
    m = re.fullmatch(r"([(\[])([^,]*),([^,]*)([)\]])", gold, re.S)
    if m:
        yield f"{m[1]}{m[3]},{m[2]}{m[4]}"


MUTATIONS = {"digit": digits, "sign": signs, "term": terms, "operator": operators, "bracket": brackets, "swap": swaps}


def pairs(sets):
    rng = random.Random(20260211)
    for name, unique in sets.items():
        for gold in unique:
            for other in rng.sample(unique, min(16, len(unique))):
                if other != gold:
                    yield name, "other gold", gold, other
            for kind, mutate in MUTATIONS.items():
                for mutated in mutate(gold, rng):
                    if mutated.strip() and mutated != gold:
                        yield name, kind, gold, mutated


def judge(program, pairs_of_texts, *settings):
    lines = "\n".join(json.dumps({"gold": gold, "response": "\\boxed{" + answer + "}"}) for gold, answer in pairs_of_texts)
    done = subprocess.run([program, *settings, "-"], input=lines, capture_output=True, text=True)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    if len(verdicts) != len(pairs_of_texts):
        peer.fail(f"{program} gave {len(verdicts)} of {len(pairs_of_texts)} verdicts: {done.stderr}")
    return verdicts


def equal_themselves(program, sets):
    """Compares the parsed answers instead of their texts."""
    rows = [(gold, gold) for unique in sets.values() for gold in unique]
    verdicts = judge(program, rows, "--set", "identical_text=false")
    for verdict in verdicts:
        if not verdict["correct"]:
            print("not equal to itself:", verdict["reason"], repr(verdict["gold"]))
    print(f"{sum(v['correct'] for v in verdicts)} of {len(rows)} different golds equal themselves")


def main():
    parser = peer.arguments(__doc__)
    parser.add_argument("lie_verify", type=peer.existing, help="the program")
    parser.add_argument("data", type=peer.existing, help="folder of problems/*.jsonl and lie/*.parquet (which need pyarrow)")
    parser.add_argument("accepts", nargs="?", metavar="ACCEPTS.tsv", help="file to write all accepted pairs to")
    args = parser.parse_args()
    sets = golds(pathlib.Path(args.data))
    if not sets:
        peer.fail(f"{args.data}: no golds in problems/*.jsonl or lie/*.parquet")
    equal_themselves(args.lie_verify, sets)
    rows = list(pairs(sets))
    verdicts = judge(args.lie_verify, [(gold, answer) for _, _, gold, answer in rows])
    tried, accepted = collections.Counter(), collections.Counter()
    accepts = []
    for (name, kind, gold, answer), verdict in zip(rows, verdicts):
        tried[kind] += 1
        if verdict["correct"]:
            accepted[kind] += 1
            accepts.append("\t".join((kind, name, repr(gold), repr(answer))))
    for kind in tried:
        print(f"{kind:<12}{accepted[kind]:>6} of {tried[kind]:>7}")
    total = sum(accepted.values())
    print(f"{'all':<12}{total:>6} of {len(rows):>7} = {100 * total / len(rows):.3f} %")
    if args.accepts:
        pathlib.Path(args.accepts).write_text("\n".join(accepts) + "\n")


if __name__ == "__main__":
    main()
