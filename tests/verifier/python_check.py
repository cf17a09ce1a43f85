"""Tries the installed Python module; scripts/check_python.sh runs it in a fresh environment. Where math_verify is installed as
well, says which of the rows it gets wrong."""
import threading

from lie_verifier import LatexExtractionConfig, StringExtractionConfig, parse, verdict, verify

# gold, response, what is true
ROWS = [
    ("$\\frac{1}{2}$", "So the answer is $0.5$.", True),
    ("$\\frac{1}{2}$", "The final answer is $\\boxed{\\frac{2}{4}}$.", True),
    ("$x^2+2x+1$", "$(x+1)^2$", True),
    ("$\\{1,2,3\\}$", "$\\{3,2,1\\}$", True),
    ("$[0,1)$", "$(0,1)$", False),
    ("$7$", "$5(2)$", False),
    ("$\\frac{\\pi}{4}$", "It is $\\frac \\pi4$", True),
    ("$-1$", "$\\begin{pmatrix}-1&0\\\\0&-1\\end{pmatrix}.$", False),
    ("18", "She makes 9 * 2 = 18 dollars. The answer is 18", True),
    ("$1,000$", "$1000$", True),
    ("$0$", "$1\\,000$", False),
    ("$x > 5$", "$2x > 10$", True),
    ("$\\sqrt{2}$", "$1.41421356$", True),
]


def check():
    assert verify(parse("$1/2$"), parse("so it is $0.5$")) is True
    assert parse("no answer here") == []
    assert str(parse("so $\\boxed{42}$")[0]) == "42"
    assert verify([], parse("$1$")) is False
    assert verify("1/3", "$0.333$") is False and verify("1/3", "$0.333$", float_rounding=3) is True
    assert verify("3x", "$3$") is False
    assert verify("$x+1$", "$y+1$") is False and verify("$x+1$", "$y+1$", strict=False) is True
    config = [LatexExtractionConfig(boxed_match_priority=0)]
    assert verify(parse("$5$"), parse("\\boxed{5} and $7$", extraction_config=config, extraction_mode="first_match"))
    assert verify(parse("B", [StringExtractionConfig()]), parse("The answer is B.", [StringExtractionConfig()]))
    assert verdict("\\frac12", "so \\boxed{0.5}") == (True, "equal", "0.5")
    assert verdict("5", "five").reason == "no_answer"
    assert verdict("5", "\\boxed{\\frac{1}}").reason == "unparsable_answer"
    for bad in ({"mode": "strictest"}, {"no_rule": 1}):
        try:
            verdict("1", "1", **bad)
        except ValueError:
            continue
        raise AssertionError(f"{bad} was taken")
    for gold, response, expected in ROWS:
        assert verify(parse(gold), parse(response)) is expected, (gold, response)


check()
errors = []


def in_thread():
    try:
        check()
    except Exception as error:  # handed to the main thread
        errors.append(error)


threads = [threading.Thread(target=in_thread) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
print(f"lie_verifier: {len(ROWS)} rows right, in the main thread and in 8 others")

try:
    import math_verify
except ImportError:
    raise SystemExit(0)
alike = 0
for gold, response, expected in ROWS:
    theirs = math_verify.verify(math_verify.parse(gold), math_verify.parse(response))
    alike += theirs is expected
    if theirs is not expected:
        print(f"math_verify says {theirs} where {expected} is right: {gold} {response}")
print(f"math_verify: {alike} of {len(ROWS)} rows right")
