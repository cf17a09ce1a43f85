"""python -m lie_cluster.judge: what responses do, by a language model.

Counts verification, backtracking, subgoals, backward chaining and enumeration, and measures depth and width of the
reasoning graph, by an OpenAI-compatible chat endpoint. Answers are kept: nothing is asked twice. Exit status 2: some
answers are missing.
"""
import collections
import hashlib
import json
import os
import pathlib
import sys

from .. import __version__
from ..command_line import make_parser, number, run, write_json
from ..error import Error
from .answer_cache import AnswerCache, AnswerCode, Completion
from .endpoint import Endpoint, endpoint_url
from .measures import MEASURES, TOPICS, prompt_text, read_answer
from .questions import Asking, questions_about
from .sampled_responses import add_arguments, draw_sample, without_middle
from .summary import agreement, agreement_table, cut_line, sample_report, summary_table


def _parser():
    parser = make_parser("judge", __doc__)
    add_arguments(parser, samples=200)
    request = parser.add_argument_group("request")
    request.add_argument("--model", required=True, help="name of the model at the endpoint")
    request.add_argument("--temperature", type=number(float, 0, 2), default=0.0, help="sampling temperature of the judge")
    request.add_argument("--judge-seed", type=number(int, 0), default=1, help="seed of pass 1; pass 2 sends the next")
    request.add_argument("--max-tokens", type=number(int, 1), default=4096, help="token limit of an answer")
    request.add_argument("--extra", default="{}", help="JSON object merged into each request; null removes a parameter: "
                         '\'{"max_tokens": null, "max_completion_tokens": 4096}\'')
    request.add_argument("--prompts", type=pathlib.Path, help="directory of your own prompts; default: the package's")
    request.add_argument("--passes", type=number(int, 1, 2), default=1, help="2: ask twice, with another seed and the texts "
                         "before the prompt, and show how far the answers agree")
    transport = parser.add_argument_group("transport")
    transport.add_argument("--endpoint", required=True, help="URL before /chat/completions")
    transport.add_argument("--key-variable", default="LIE_JUDGE_API_KEY",
                           help="environment variable that holds the API key, if one is needed")
    transport.add_argument("--concurrency", type=number(int, 1, 1024), default=4, help="requests in flight")
    transport.add_argument("--requests-per-minute", type=number(float, 1e-3), help="upper limit; default: none")
    transport.add_argument("--retries", type=number(int, 0, 100), default=5,
                           help="number of retries after status 408, 429, 5xx and lost connections")
    transport.add_argument("--retry-seconds", type=number(float, 0, 60), default=1.0,
                           help="wait before the first retry; twice as long before each next one")
    transport.add_argument("--timeout", type=number(int, 1, 86400), default=600,
                           help="seconds to wait for a reply, or for its next bytes")
    transport.add_argument("--input-price", type=number(float, 0), default=0.0, help="price of a million prompt tokens")
    transport.add_argument("--output-price", type=number(float, 0), default=0.0, help="price of a million answer tokens")
    transport.add_argument("--cache", type=pathlib.Path,
                           help="directory of the answers; default: RUN_DIR/judge, or FILE.judge")
    return parser


def _key_of_environment(variable, url):
    key = os.environ.get(variable, "")
    if not all("!" <= c <= "~" for c in key):
        raise Error(f"the environment variable {variable} holds a space or line break; a key has none")
    is_local = url.startswith(("http://localhost", "http://127.", "http://[::1]"))
    if key and url.startswith("http://") and not is_local:
        print(f"warning: the key of {variable} goes to {url} without encryption", file=sys.stderr)
    return key


def _extra(text):
    try:
        extra = json.loads(text)
    except ValueError as error:
        raise Error(f"--extra: not valid JSON: {error}") from error
    if not isinstance(extra, dict):
        raise Error(f"--extra {text}: expected an object")
    return extra


def _read_answers(sample, questions, cache, passes):
    """Returns the values of each response by pass, the number of answers by code, and the answers that are not ok."""
    measured = [[{} for _ in range(passes)] for _ in sample.responses]
    codes, missing = collections.Counter({code.value: 0 for code in AnswerCode}), []
    for question in questions:
        found = cache.find(question.key) or Completion(AnswerCode.NOT_ASKED)
        values = read_answer(question.topic, found.text) if found.code == AnswerCode.OK else {}
        code = AnswerCode.UNPARSABLE if found.code == AnswerCode.OK and not values else found.code
        measured[question.response][question.number - 1].update(values)
        codes[code.value] += 1
        if code != AnswerCode.OK:
            missing.append({"place": sample.responses[question.response].place, "topic": question.topic,
                            "pass": question.number, "code": code.value, "detail": found.detail or found.text})
    return measured, dict(codes), missing


def _code_lines(codes, missing):
    text = ""
    for code, count in codes.items():
        detail = next((without_middle(one["detail"], 200) for one in missing if one["code"] == code and one["detail"]), "")
        first = f"  the first: {json.dumps(detail, ensure_ascii=False)}" if detail else ""
        text += f"{code:<20}{count:>11}{first}\n" if count else ""
    return text


def _judge_source(options, endpoint, source):
    """Asks about one source and prints its tables. Returns its part of the report."""
    sample = draw_sample(source, options)
    questions = questions_about(sample, options)
    default = source / "judge" if source.is_dir() else source.with_name(source.name + ".judge")
    cache = AnswerCache(options.cache or default)
    asking = Asking(questions, cache, endpoint, options)
    asking.run()
    measured, codes, missing = _read_answers(sample, questions, cache, options.passes)
    cache.close()
    report = {**sample_report(sample, measured, MEASURES), "answers": codes, "missing": missing,
              "agreement": agreement(measured), "asked": asking.asked, "from_cache": asking.from_cache,
              "prompt_tokens": asking.prompt_tokens, "completion_tokens": asking.completion_tokens, "cost": asking.cost}
    print(f"{source}: {len(sample.responses)} responses, judged by {options.model}")
    print(summary_table(report["ranges"]))
    print(agreement_table(report["agreement"]))
    cost = f", cost {asking.cost:.4f}" if options.input_price or options.output_price else ""
    print(f"{_code_lines(codes, missing)}{cut_line(report, options.max_bytes)}asked {asking.asked}, from the cache "
          f"{asking.from_cache}; {asking.prompt_tokens} + {asking.completion_tokens} tokens{cost}\nanswers: {cache.path}")
    if missing:
        print(f"{source}: {len(missing)} of {len(questions)} answers are missing; the same command asks again where no "
              "reply came", file=sys.stderr)
    return report


def main():
    options = _parser().parse_args()
    options.extra = _extra(options.extra)
    url = endpoint_url(options.endpoint)
    key = _key_of_environment(options.key_variable, url)
    digests = {topic: hashlib.sha256(prompt_text(topic, options.prompts).encode()).hexdigest() for topic in TOPICS}
    endpoint = Endpoint(url, key, options.retries, options.retry_seconds, options.timeout)
    report = {"version": __version__, "endpoint": url, "model": options.model, "temperature": options.temperature,
              "seed": options.judge_seed, "passes": options.passes, "prompts_sha256": digests, "sources": []}
    for source in options.sources:
        report["sources"].append(_judge_source(options, endpoint, source))
        if options.json:
            write_json(options.json, report)
    return 2 if any(one["missing"] for one in report["sources"]) else 0


if __name__ == "__main__":
    run("judge", main)
