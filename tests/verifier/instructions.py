"""Counts the instructions of lie_verify on nested answers under callgrind, and fails beyond a bound per byte of input."""
import re
import shutil
import subprocess
import sys

FAMILIES = {
    "integrals": lambda n: "\\int_0^1 " * n + "x" + " dx" * n,
    "sums": lambda n: "\\sum_{k=1}^{n} " * n + "k",
    "limits": lambda n: "\\lim_{x\\to y} " * n + "\\frac{x}{y}",
    "matrices": lambda n: "\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}" * n,
    "determinants": lambda n: "\\det(" + "\\begin{pmatrix}x&1\\\\1&x\\end{pmatrix}" * n + ")",
    "fractions": lambda n: "\\frac{x+1}{x+" * n + "x" + "}" * n,
    "roots": lambda n: "\\sqrt{(x+1)^2+" * n + "x" + "}" * n,
    "powers": lambda n: "(x+" * n + "1" + ")^x" * n,
    "derivatives": lambda n: "\\frac{d^8}{dx^8} \\sin(" * n + "x" + ")" * n,
}
START = 12_000_000  # instructions of a program that only starts, about
PER_BYTE = 40_000_000  # the budget of 100,000 steps allows about this on the shortest of these inputs


def instructions(program, gold, response, mode):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--mode", mode, "--", gold, response]
    done = subprocess.run(command, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main():
    if len(sys.argv) != 2 or shutil.which("valgrind") is None:
        sys.exit("usage: instructions.py LIE_VERIFY; needs valgrind")
    failed = False
    for name, family in FAMILIES.items():
        for n in (6, 12, 24, 48):
            answer = family(n)
            for mode in ("reward", "lenient"):
                count = instructions(sys.argv[1], "2", "\\boxed{" + answer + "}", mode) - START
                per_byte = count / len(answer)
                failed = failed or per_byte > PER_BYTE
                print(f"{name:<14}{n:>4} {mode:<8}{count / 1e6:>10.1f} M instructions {per_byte / 1e3:>10.1f} k per byte", flush=True)
    sys.exit("more instructions per byte than allowed" if failed else 0)


if __name__ == "__main__":
    main()
