"""Converts token ids back to text. This needs only the vocabulary of a byte-level BPE tokenizer.json, and the tokens that
the files next to it add."""
import hashlib
import json

from .error import Error


def _byte_of_character():
    """Returns GPT-2's map: printable bytes stand for themselves, the others for characters from U+0100 on."""
    plain = [b for b in range(256) if 0x21 <= b <= 0x7e or 0xa1 <= b <= 0xac or b >= 0xae]
    others = [b for b in range(256) if b not in plain]
    return {**{chr(b): b for b in plain}, **{chr(0x100 + i): b for i, b in enumerate(others)}}


def _object_in(path):
    """Returns the JSON object in a file; an empty one if there is no such file."""
    try:
        found = json.loads(path.read_bytes()) if path.exists() else {}
    except ValueError as error:
        raise Error(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise Error(f"{path}: expected an object")
    return found


def _tokenizer_config(directory):
    """Returns the content of tokenizer_config.json. Without added_tokens_decoder it is of an older form, where the tokens
    of special_tokens_map.json replace its own, as model/tokenizer/tokenizer_config.cpp says."""
    config = _object_in(directory / "tokenizer_config.json")
    return config if "added_tokens_decoder" in config else {**config, **_object_in(directory / "special_tokens_map.json")}


_PURPOSES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
             "additional_special_tokens", "extra_special_tokens")  # keys of tokenizer_config.json


_TAGS_OF_THOUGHTS = (b"<think>", b"</think>")  # kept in texts of responses even if they are special


def _names(value):
    """Yields the texts of a token, or of a list or an object of tokens."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and isinstance(value.get("content"), str):
        yield value["content"]
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _names(one)


def _tokens_beside(directory):
    """Yields file, id, content and whether it is special of the tokens that stand in other files than tokenizer.json. Reads
    them as model/tokenizer/tokens_beside.cpp does."""
    path = directory / "tokenizer_config.json"
    config = _tokenizer_config(directory)
    try:
        for id, token in (config.get("added_tokens_decoder") or {}).items():
            yield path, int(id), token["content"], bool(token.get("special"))
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise Error(f"{path}: added_tokens_decoder: expected an object of token ids, each with a content") from error
    special = set(_names([config.get(purpose) for purpose in _PURPOSES]))
    path = directory / "added_tokens.json"
    for content, id in _object_in(path).items():
        if type(id) is not int or id < 0:
            raise Error(f'{path}: "{content}": expected a token id, found {json.dumps(id)}')
        yield path, id, content, content in special


class Decoder:
    """Decodes as `lie_cluster tokenize --decode` does; bytes that are not UTF-8 become U+FFFD. Ids without a token decode to
    nothing if they are below vocab_size of the config.json next to the tokenizer: models may have more ids than tokens."""

    def __init__(self, path, sha256, special_tokens=True):
        """`sha256` is the hash of the run's tokenizer. Any other tokenizer is refused, because it would give other texts.
        Special tokens are left out unless `special_tokens` is set."""
        content = path.read_bytes()
        if sha256 and hashlib.sha256(content).hexdigest() != sha256:
            raise Error(f"{path}: not the tokenizer of this run, whose tokenizer.json has SHA-256 {sha256}; give the "
                        "correct directory: texts(tokenizer=DIRECTORY)")
        file = json.loads(content)
        added = file.get("added_tokens", [])
        ids = {**file["model"]["vocab"], **{token["content"]: token["id"] for token in added}}
        tokens = {id: token for token, id in file["model"]["vocab"].items()}
        tokens.update((token["id"], token["content"]) for token in added)
        is_special = {token["id"]: bool(token.get("special")) for token in added}
        for place, id, content, special in _tokens_beside(path.parent):
            if not content:
                continue
            if tokens.setdefault(id, content) != content or ids.setdefault(content, id) != id:
                raise Error(f'{place}: token "{content}" has the id {id}, but another file of the tokenizer gives the token '
                            "another id or the id another token; correct one")
            is_special.setdefault(id, special)
        bytes_of = _byte_of_character()
        self._directory = path.parent
        self._bytes = dict.fromkeys(range(_object_in(path.parent / "config.json").get("vocab_size") or 0), b"")
        self._bytes.update((id, bytes(bytes_of[c] for c in token) if all(c in bytes_of for c in token) else token.encode())
                           for id, token in tokens.items())
        if not special_tokens:
            self._bytes.update((id, b"") for id, special in is_special.items()
                               if special and self._bytes[id] not in _TAGS_OF_THOUGHTS)

    def __call__(self, ids):
        """Returns the text of token ids. Raises Error for an id that no file names."""
        try:
            return b"".join(map(self._bytes.__getitem__, ids.tolist())).decode("utf-8", "replace")
        except KeyError as error:
            raise Error(f"{self._directory}: none of its files names the token id {error}: restore added_tokens.json, "
                        "tokenizer_config.json and config.json of the start model, or give its directory: "
                        "texts(tokenizer=DIRECTORY)") from error
