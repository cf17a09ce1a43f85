"""The verifier of LIE Cluster, with the two calls that users of Math-Verify know.

    from lie_verifier import parse, verify
    verify(parse("$1/2$"), parse(response))     # True or False

`verdict(gold, response)` says why as well.
"""
import ctypes
import pathlib
from typing import NamedTuple

_library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "liblie_verifier_c.so"))
_library.lie_verify_pair.argtypes = [
    ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t,
]
_library.lie_verdict_name.restype = ctypes.c_char_p


class Verdict(NamedTuple):
    correct: bool
    reason: str
    extracted: str


def verdict(gold: str, response: str, mode: str = "reward") -> Verdict:
    """Compares the answer in `response` with `gold`; mode "reward" (the last box) or "lenient"."""
    if mode not in ("reward", "lenient"):
        raise ValueError(f"mode must be 'reward' or 'lenient', not {mode!r}")
    found = ctypes.create_string_buffer(20_001)
    gold_bytes, response_bytes = gold.encode(), response.encode()
    code = _library.lie_verify_pair(
        gold_bytes, len(gold_bytes), response_bytes, len(response_bytes), mode == "lenient", found, len(found)
    )
    return Verdict(code == 0, _library.lie_verdict_name(code).decode(), found.value.decode(errors="replace"))


def parse(text: str) -> list:
    """Keeps the text: what stands in it is found when it is compared."""
    return [text]


def verify(gold, target, mode: str = "lenient") -> bool:
    """Whether any of the targets is right by any of the golds."""
    golds = gold if isinstance(gold, list) else [gold]
    targets = target if isinstance(target, list) else [target]
    return any(verdict(g, t, mode).correct for g in golds for t in targets)
