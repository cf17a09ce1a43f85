"""One question to an OpenAI-compatible chat endpoint, and its outcome. Needs the package openai."""
import email.utils
import json
import math
import time

from ..error import Error
from .answer_cache import AnswerCode, Completion

_LONGEST_BACKOFF, _LONGEST_RETRY_AFTER = 60, 300  # seconds
_MOST_BYTES, _SHOWN = 16 << 20, 300
# How models begin a refusal when they were asked for a JSON object.
_REFUSALS = ("I'm sorry", "I am sorry", "I can't", "I cannot", "I'm unable", "Sorry,")


def endpoint_url(url):
    """Returns a URL without the slash at its end. Raises Error if it is not http(s), or has a user name, password or
    query, which would be logged."""
    scheme, separator, rest = url.partition("://")
    if scheme not in ("http", "https") or not separator:
        raise Error(f"--endpoint {url}: expected a URL such as http://localhost:8000/v1")
    if "@" in rest.split("/")[0] or "?" in url or "#" in url:
        raise Error("--endpoint: a URL with user, password or query is refused, for it would be logged; --key-variable "
                    "names the environment variable that holds a key")
    return url.rstrip("/")


def _text_at(value, field):
    """Returns a field's text with every surrogate replaced, or "" if it is not a text."""
    found = value.get(field)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(found, str) else ""


def _tokens_at(reply, field):
    usage = reply.get("usage")
    found = usage.get(field) if isinstance(usage, dict) else None
    return found if type(found) is int and found >= 0 else 0


def _shown(data):
    text = data.decode("utf-8", "replace")
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def read_completion(data):
    """Reads the body of a reply with status 200."""
    if len(data) > _MOST_BYTES:
        return Completion(AnswerCode.BAD_REPLY, detail="more than 16 MiB")
    try:
        reply = json.loads(data)
        choice = reply["choices"][0]
        message = choice["message"]
        text, refusal, finish = _text_at(message, "content"), _text_at(message, "refusal"), _text_at(choice, "finish_reason")
        tokens = _tokens_at(reply, "prompt_tokens"), _tokens_at(reply, "completion_tokens")
    except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError):
        return Completion(AnswerCode.BAD_REPLY, detail="no chat completion: " + _shown(data))
    if finish == "length":
        return Completion(AnswerCode.TRUNCATED, text, "", *tokens)
    if finish == "content_filter" or refusal or "{" not in text and text.startswith(_REFUSALS):
        return Completion(AnswerCode.REFUSED, text, refusal or f"{finish}: {text}", *tokens)
    return Completion(AnswerCode.OK, text, "", *tokens)


def _seconds_asked_for(headers):
    """Returns the seconds of a Retry-After header, which may be a date. A malformed header counts as none: 0."""
    value = headers.get("retry-after", "")
    try:
        seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time() if "," in value else float(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0


class Endpoint:
    """A client of one endpoint. Several threads may use it at once. It does not follow redirects. The environment chooses
    the proxy."""

    def __init__(self, url, key, retries, retry_seconds, timeout):
        """Status 408, 429 or 5xx and lost connections are retried up to `retries` times. The first wait takes
        `retry_seconds`, and each next one twice as long."""
        try:
            import openai
        except ImportError as error:
            raise Error("the judge needs the package openai: pip install 'lie_cluster[judge]', or pip install "
                        "openai") from error
        self._errors = openai.APIStatusError, openai.APIConnectionError
        unsent = ["OpenAI-Organization", "OpenAI-Project"] + ([] if key else ["Authorization"])  # set by the environment
        self._headers = dict.fromkeys(unsent, openai.Omit())
        client = openai.DefaultHttpxClient(follow_redirects=False)
        client = openai.OpenAI(base_url=url, api_key=key or "none", max_retries=0, timeout=timeout,
                               http_client=client)
        self._create = client.chat.completions.with_raw_response.create
        self._retries, self._retry_seconds = retries, retry_seconds

    def _post(self, body):
        """Returns the status (0 without a reply), the body or the error's text, and the seconds that the server asks to
        wait."""
        failed, unreachable = self._errors
        others = {name: value for name, value in body.items() if name not in ("model", "messages")}
        try:
            reply = self._create(model=body.get("model"), messages=body.get("messages"), extra_body=others,
                                 extra_headers=self._headers).http_response
        except failed as error:
            reply = error.response
        except unreachable as error:
            return 0, str(error.__cause__ or error).encode(), 0.0
        return reply.status_code, reply.content, _seconds_asked_for(reply.headers)

    def ask(self, body):
        """Posts a request, and repeats it if that may help: at most retries + 1 attempts. A wait takes at most a minute,
        or as long as Retry-After says, up to five minutes."""
        for attempt in range(self._retries + 1):
            status, data, asked_for = self._post(body)
            if status == 200:
                return read_completion(data)
            if status not in (0, 408, 429) and status < 500 or attempt == self._retries:
                break
            time.sleep(max(min(self._retry_seconds * 2 ** attempt, _LONGEST_BACKOFF), min(asked_for, _LONGEST_RETRY_AFTER)))
        if status == 0:
            return Completion(AnswerCode.UNREACHABLE, detail=_shown(data))
        return Completion(AnswerCode.HTTP_ERROR, detail=f"status {status}: {_shown(data)}")
