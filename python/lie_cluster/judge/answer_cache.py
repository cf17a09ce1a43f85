"""The judge's answers on disk, so that no question is asked twice, even if a run was stopped.

    DIRECTORY/answers.jsonl   a line per answer: key, model's text, topic, pass, code, detail, tokens

A key is the SHA-256 of the whole request: model, prompt text and parameters, but not the endpoint's address or API key.
Lines are only appended. A last line without a newline was left by a killed process and is cut off.
"""
import enum
import fcntl
import json
from typing import NamedTuple

from ..error import Error
from ..rows import parse_row, required_text


class AnswerCode(str, enum.Enum):
    """The outcome of a question. Each answer has one; only OK has a value."""

    OK = "ok"
    UNPARSABLE = "unparsable"  # the text does not end with the object that the prompt asks for
    REFUSED = "refused"  # by the model or its content filter
    TRUNCATED = "truncated"  # it reached the token limit
    BAD_REPLY = "bad_reply"  # a reply that is no chat completion
    HTTP_ERROR = "http_error"  # a status other than 200, after all attempts
    UNREACHABLE = "unreachable"  # no reply, after all attempts
    NOT_ASKED = "not_asked"  # too many earlier requests failed


_FINAL = (AnswerCode.OK, AnswerCode.REFUSED, AnswerCode.TRUNCATED)


class Completion(NamedTuple):
    code: AnswerCode
    text: str = ""  # from the model; only with OK and TRUNCATED
    detail: str = ""  # what was wrong
    prompt_tokens: int = 0  # as the server counts them
    completion_tokens: int = 0

    def is_final(self):
        """Returns whether this is the answer, so that the question is not asked again."""
        return self.code in _FINAL


class AnswerCache:
    """Answers by key. One process at a time may use a directory."""

    def __init__(self, directory):
        """Creates the directory if it is missing, locks the file and reads it. Raises Error naming a damaged line, or if
        another process uses the file."""
        self.path = directory / "answers.jsonl"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise Error(f"{self.path}: another process uses it; wait for its end, or name another --cache") from error
        except OSError as error:
            raise Error(f"{self.path}: cannot be written ({error.strerror}); name another directory by --cache") from error
        self._answers = self._read()

    def _read(self):
        self._file.seek(0)
        whole, newline, _ = self._file.read().rpartition(b"\n")
        self._file.truncate(len(whole) + len(newline))
        lines = whole.decode("utf-8", "replace").split("\n") if newline else []
        return dict(self._answer(line, f"{self.path}:{number}") for number, line in enumerate(lines, 1))

    @staticmethod
    def _answer(line, place):
        row = parse_row(line, place)
        code = required_text(row, "code", place)
        if code not in {final.value for final in _FINAL}:
            raise Error(f"{place}: unknown code {code}; delete the line to have the question asked again")
        return required_text(row, "key", place), Completion(
            AnswerCode(code), required_text(row, "text", place), required_text(row, "detail", place),
            row.get("prompt_tokens") or 0, row.get("completion_tokens") or 0)

    def find(self, key):
        """Returns the answer, or None."""
        return self._answers.get(key)

    def add(self, key, about, completion):
        """Keeps an answer, and writes a final one to disk at once. `about` holds further fields of its line. Raises Error if
        it cannot be written."""
        self._answers[key] = completion
        if not completion.is_final():
            return
        line = {**about, "key": key, **completion._asdict(), "code": completion.code.value}
        try:
            self._file.write(json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise Error(f"{self.path}: cannot be written: {error.strerror}") from error

    def close(self):
        self._file.close()
