"""The verifier of LIE Cluster, with the calls that users of Math-Verify know.

    from lie_verifier import parse, verify
    verify(parse("$1/2$"), parse(response))          # True or False

    from lie_verifier import verdict
    verdict("1/2", response)                          # Verdict(correct=True, reason='equal', extracted='0.5')

Budgets count steps instead of time, so timeouts are accepted and ignored. The module is thread-safe and uses no signals.
"""
import ctypes
import pathlib
from typing import Any, NamedTuple, Optional, Sequence, Tuple

_library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "liblie_verifier_c.so"))
_library.lie_verify_pair.argtypes = [
    ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t,
]
_library.lie_verdict_name.restype = ctypes.c_char_p


class Verdict(NamedTuple):
    """Whether an answer is correct, the reason code ("equal", "unequal", "no_answer", "unparsable_answer",
    "unparsable_gold", "out_of_budget", "undecided"), and the answer found in the response."""

    correct: bool
    reason: str
    extracted: str


class LatexExtractionConfig(NamedTuple):
    """Answers in LaTeX. Only the field boxed_match_priority has an effect."""

    try_extract_without_anchor: bool = True
    boxed_match_priority: int = 50
    normalization_config: Any = None


class ExprExtractionConfig(NamedTuple):
    """Plain numbers and arithmetic."""

    try_extract_without_anchor: bool = True


class StringExtractionConfig(NamedTuple):
    """Choice letters."""

    strings: Tuple[str, ...] = ("A", "B", "C", "D")


class Answer(NamedTuple):
    """The result of parse(): the text, the answer found in it, and its rules."""

    text: str
    extracted: str
    rules: Tuple[Tuple[str, Any], ...]

    def __str__(self):
        return self.extracted


def verdict(gold: str, response: str, mode: str = "reward", **rules) -> Verdict:
    """Verifies the answer in `response` in mode "reward" (the last box) or "lenient" (where Math-Verify looks). `rules`
    are those that `lie_verify --rules` lists: decimal_places=4, drop_units=False, choices=["A", "B"]."""
    lines = "\n".join(f"{name}={_spelt(value)}" for name, value in {"mode": mode, **rules}.items())
    gold_bytes = gold.encode("utf-8", "surrogatepass")
    response_bytes = response.encode("utf-8", "surrogatepass")
    found = ctypes.create_string_buffer(min(len(response_bytes), 20_000) + 1_000)
    code = _library.lie_verify_pair(
        gold_bytes, len(gold_bytes), response_bytes, len(response_bytes), lines.encode(), found, len(found)
    )
    text = found.value.decode(errors="replace")
    if code < 0:
        raise ValueError(text)
    return Verdict(code == 0, _library.lie_verdict_name(code).decode(), text)


def _spelt(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, (list, tuple)) else str(value)


def _rules_of(configs: Optional[Sequence[Any]]) -> dict:
    """Returns Math-Verify's targets, from this module or its own, as rules. None means its default, LaTeX and plain numbers."""
    if configs is None:
        return {"boxed_priority": 50}
    by_kind = {type(config).__name__: config for config in configs}
    rules = {"lenient_latex": False, "lenient_plain": "ExprExtractionConfig" in by_kind}
    if latex := by_kind.get("LatexExtractionConfig"):
        rules.update(lenient_latex=True, boxed_priority=latex.boxed_match_priority)
    if strings := by_kind.get("StringExtractionConfig"):
        rules["choices"] = list(strings.strings)
    return rules


def parse(
    pred: str,
    extraction_config: Optional[Sequence[Any]] = None,
    fallback_mode: str = "first_match",
    extraction_mode: str = "any_match",
    parsing_timeout: Optional[int] = 5,
    raise_on_error: bool = False,
) -> list:
    """Returns [Answer] if there is an answer in the text, and otherwise []. The last four arguments only exist for
    compatibility with Math-Verify: LaTeX that does not parse has no fallback to a number in it, and there is no timeout."""
    del fallback_mode, extraction_mode, parsing_timeout, raise_on_error
    rules = _rules_of(extraction_config)
    found = verdict("0", pred, "lenient", **rules)
    return [] if found.reason == "no_answer" else [Answer(pred, found.extracted, tuple(rules.items()))]


def verify(
    gold: Any,
    target: Any,
    float_rounding: int = 6,
    numeric_precision: int = 15,
    strict: bool = True,
    allow_set_relation_comp: bool = False,
    timeout_seconds: Optional[int] = 5,
    raise_on_error: bool = False,
) -> bool:
    """Returns whether any target is correct for any gold. Both are results of parse(), or texts. A gold text without
    math environment or box is one answer. Numbers are exact, so numeric_precision and the last two have no effect."""
    del numeric_precision, timeout_seconds, raise_on_error
    common = {
        "decimal_places": float_rounding,
        "rename_variables": not strict,
        "relation_for_interval": allow_set_relation_comp,
    }
    golds = gold if isinstance(gold, list) else [gold]
    targets = target if isinstance(target, list) else [target]
    for right in golds:
        for given in targets:
            text, rules = (given.text, dict(given.rules)) if isinstance(given, Answer) else (str(given), {})
            gold_text = right.text if isinstance(right, Answer) else str(right)
            comma = isinstance(right, Answer)  # Math-Verify reads the text 1,22 as 1.22
            if verdict(gold_text, text, "lenient", gold_decimal_comma=comma, **rules, **common).correct:
                return True
    return False
