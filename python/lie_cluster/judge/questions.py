"""The questions about a sample, and the threads that send them to the endpoint."""
import hashlib
import json
import sys
import threading
import time
from typing import NamedTuple

from .measures import TOPICS, prompt_text

_FAILURES_IN_A_ROW = 8


class Question(NamedTuple):
    response: int  # index in the sample
    topic: str
    number: int  # of the pass, from 1; pass 1 shows the texts after the prompt, pass 2 before it
    body: dict
    key: str  # see answer_cache


def _patched(value, patch):
    """Merges `patch` into a JSON value by RFC 7396: null removes a field."""
    if not isinstance(patch, dict):
        return patch
    value = dict(value) if isinstance(value, dict) else {}
    for name, part in patch.items():
        if part is None:
            value.pop(name, None)
        else:
            value[name] = _patched(value.get(name), part)
    return value


def _request(prompt, response, number, options):
    texts = f"<problem>\n{response.prompt}\n</problem>\n\n<response>\n{response.response}\n</response>"
    content = f"{prompt}\n{texts}" if number == 1 else f"{texts}\n\n{prompt}"
    body = {"model": options.model, "messages": [{"role": "user", "content": content}],
            "temperature": options.temperature, "seed": options.judge_seed + number - 1, "max_tokens": options.max_tokens}
    return _patched(body, options.extra)


def key_of(body):
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def questions_about(sample, options):
    """Returns every topic of every response in each of the passes."""
    prompts = {topic: prompt_text(topic, options.prompts) for topic in TOPICS}
    questions = []
    for i, response in enumerate(sample.responses):
        for number in range(1, options.passes + 1):
            for topic, prompt in prompts.items():
                body = _request(prompt, response, number, options)
                questions.append(Question(i, topic, number, body, key_of(body)))
    return questions


class _Progress:
    """Progress on standard error: one line, rewritten after each answer, or about ten lines if it is not a terminal."""

    def __init__(self, total):
        self._total, self._is_terminal = total, sys.stderr is not None and sys.stderr.isatty()

    def show(self, done, text):
        if not self._is_terminal and done % max(1, self._total // 10) and done != self._total:
            return
        try:
            print(f"\r{text}\033[K" if self._is_terminal else text, end="" if self._is_terminal else "\n",
                  file=sys.stderr, flush=True)
        except OSError:
            pass  # the work continues if progress cannot be shown

    def finish(self):
        if self._is_terminal:
            print(file=sys.stderr)


class Asking:
    """Threads that ask the questions missing from the cache, and counts of their requests. After 8 failed requests in a
    row, the remaining questions are not asked."""

    def __init__(self, questions, cache, endpoint, options):
        self._cache, self._endpoint, self._options = cache, endpoint, options
        by_key = {q.key: q for q in reversed(questions) if cache.find(q.key) is None}  # equal responses: one question
        self._questions = [q for q in questions if by_key.get(q.key) is q]
        self.from_cache = len(questions) - len(self._questions)
        self.asked = self.prompt_tokens = self.completion_tokens = 0
        self._lock, self._next, self._next_start = threading.Lock(), 0, time.monotonic()
        self._failed = self._failures_in_a_row = 0
        self._gives_up, self._error = False, None
        self._progress = _Progress(len(self._questions))

    @property
    def cost(self):
        return (self.prompt_tokens * self._options.input_price + self.completion_tokens * self._options.output_price) / 1e6

    def run(self):
        """Asks each missing question once. Raises Error if an answer cannot be kept."""
        threads = [threading.Thread(target=self._work, daemon=True)
                   for _ in range(min(self._options.concurrency, len(self._questions)))]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self._gives_up = True
            if threads:
                self._progress.finish()
        if self._error:
            raise self._error

    def _work(self):
        try:
            while True:
                question = self._next_question()
                if question is None:
                    return
                completion = self._endpoint.ask(question.body)
                with self._lock:
                    self._record(question, completion)
        except Exception as error:  # run() raises it
            self._error, self._gives_up = error, True

    def _next_question(self):
        """Waits until the next question may be sent and returns it. Returns None if there is none."""
        with self._lock:
            if self._gives_up or self._next == len(self._questions):
                return None
            question = self._questions[self._next]
            self._next += 1
            start = self._next_start = max(self._next_start, time.monotonic())
            if self._options.requests_per_minute:
                self._next_start += 60 / self._options.requests_per_minute
        time.sleep(max(0.0, start - time.monotonic()))
        return question

    def _record(self, question, completion):
        self._cache.add(question.key, {"topic": question.topic, "pass": question.number}, completion)
        is_failure = not completion.is_final()
        self._failures_in_a_row = self._failures_in_a_row + 1 if is_failure else 0
        self._failed += is_failure
        self._gives_up = self._gives_up or self._failures_in_a_row >= _FAILURES_IN_A_ROW
        self.asked += 1
        self.prompt_tokens += completion.prompt_tokens
        self.completion_tokens += completion.completion_tokens
        text = f"asked {self.asked} of {len(self._questions)} | {self.prompt_tokens} + {self.completion_tokens} tokens"
        text += f" | cost {self.cost:.4f}" if self.cost else ""
        self._progress.show(self.asked, text + (f" | {self._failed} failed" if self._failed else ""))
