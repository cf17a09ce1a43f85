"""Converts token ids back to text. This needs only the vocabulary of a byte-level BPE tokenizer.json."""
import hashlib
import json

from .error import Error


def _byte_of_character():
    """Returns GPT-2's map: printable bytes stand for themselves, the others for characters from U+0100 on."""
    plain = [b for b in range(256) if 0x21 <= b <= 0x7e or 0xa1 <= b <= 0xac or b >= 0xae]
    others = [b for b in range(256) if b not in plain]
    return {**{chr(b): b for b in plain}, **{chr(0x100 + i): b for i, b in enumerate(others)}}


class Decoder:
    """Decodes as `lie_cluster tokenize --decode` does; bytes that are not UTF-8 become U+FFFD."""

    def __init__(self, path, sha256, special_tokens=True):
        """`sha256` is the hash of the run's tokenizer. Any other tokenizer is refused, because it would give other texts.
        Special tokens are left out unless `special_tokens` is set."""
        content = path.read_bytes()
        if sha256 and hashlib.sha256(content).hexdigest() != sha256:
            raise Error(f"{path}: not the tokenizer of this run, whose tokenizer.json has SHA-256 {sha256}; give the "
                        "correct directory: texts(tokenizer=DIRECTORY)")
        file = json.loads(content)
        added = file.get("added_tokens", [])
        tokens = {id: token for token, id in file["model"]["vocab"].items()}
        tokens.update((token["id"], token["content"]) for token in added)
        bytes_of = _byte_of_character()
        self._bytes = {id: bytes(bytes_of[c] for c in token) if all(c in bytes_of for c in token) else token.encode()
                       for id, token in tokens.items()}
        if not special_tokens:
            self._bytes.update((token["id"], b"") for token in added if token.get("special"))

    def __call__(self, ids):
        return b"".join(self._bytes.get(id, b"") for id in ids.tolist()).decode("utf-8", "replace")
