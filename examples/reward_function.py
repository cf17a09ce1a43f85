#!/usr/bin/env python3
"""A reward program around reward functions written for TRL or verl, which run as they are.

    lie_cluster train my.yaml --set "reward.command=python3 examples/reward_function.py trl my_rewards.py:format_reward"
    lie_cluster train my.yaml --set "reward.command=python3 examples/reward_function.py verl my_rewards.py:compute_score"

TRL: several functions are added, with --weights as by GRPOConfig.reward_weights. A function is called with prompts,
completions, the columns of the row, trainer_state.global_step and log_metric, each as a list over a batch of one response.
Prompts and completions are messages where the row's prompt is a list of messages. completion_ids need --tokenizer: the
tokens of the response, encoded again by the package "tokenizers".
verl: compute_score(data_source, solution_str, ground_truth, extra_info) returns a number, or a dict with "score".

Functions may be coroutines (async def); requests that are sent ahead then run concurrently. What a function prints goes to
the run's messages. The protocol is docs/reference/reward-programs.md.
"""

import argparse
import asyncio
import importlib
import importlib.util
import inspect
import json
import math
import os
import re
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace


def load(name):
    """Returns the function that FILE.py:FUNCTION or MODULE:FUNCTION names."""
    place, colon, function = name.rpartition(":")
    if not colon:
        raise SystemExit(f"reward_function.py: {name}: write FILE.py:FUNCTION or MODULE:FUNCTION")
    if place.endswith(".py"):
        sys.path.insert(0, str(Path(place).resolve().parent))
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(place)
    if not callable(getattr(module, function, None)):
        raise SystemExit(f"reward_function.py: {place} has no function {function}")
    return getattr(module, function)


def are_messages(value):
    return isinstance(value, list) and all(isinstance(part, dict) and "content" in part for part in value)


async def value_of(result):
    return await result if inspect.isawaitable(result) else result


def number_of(value):
    """Returns a number of Python, NumPy or PyTorch as a float."""
    return float(value.item() if hasattr(value, "item") else value)


def logged(numbers):
    """Returns `numbers` under names that a log column may have; what is no number is left out."""
    kept = {}
    for name, value in numbers.items():
        try:
            number = number_of(value)
        except (TypeError, ValueError):
            continue
        kept[re.sub(r"\W", "_", str(name), flags=re.ASCII)[:64]] = number if math.isfinite(number) else None
    return kept


def needs(function, name):
    parameter = inspect.signature(function).parameters.get(name)
    return parameter is not None and parameter.default is inspect.Parameter.empty


class Trl:
    """Calls reward functions as TRL's GRPOTrainer does."""

    def __init__(self, arguments):
        self.functions = [load(name) for name in arguments.functions]
        self.weights = arguments.weights or [1.0] * len(self.functions)
        if len(self.weights) != len(self.functions):
            raise SystemExit(f"reward_function.py: {len(self.functions)} functions and {len(self.weights)} weights")
        self.encode = None
        if arguments.tokenizer:
            from tokenizers import Tokenizer
            path = Path(arguments.tokenizer)
            tokenizer = Tokenizer.from_file(str(path / "tokenizer.json" if path.is_dir() else path))
            self.encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
        elif any(needs(f, name) for f in self.functions for name in ("completion_ids", "completions_ids")):
            raise SystemExit("reward_function.py: the function takes completion_ids: pass --tokenizer MODEL_DIRECTORY")

    def keywords(self, request, numbers):
        row = request["problem"]
        prompt = row.get("prompt", request["prompt"])
        chat = are_messages(prompt)
        response = request["response"]
        keywords = {name: [value] for name, value in row.items() if name != "prompt"}
        keywords["prompts"] = [prompt]
        keywords["completions"] = [[{"role": "assistant", "content": response}] if chat else response]
        keywords["trainer_state"] = SimpleNamespace(global_step=request["step"])
        keywords["log_metric"] = numbers.__setitem__
        keywords["log_extra"] = lambda column, values: None
        if self.encode:
            keywords["completion_ids"] = keywords["completions_ids"] = [self.encode(response)]
        return keywords

    async def answer(self, request):
        numbers = {}
        keywords = self.keywords(request, numbers)
        results = [call(function, keywords) for function in self.functions]
        rewards = [(await value_of(result))[0] for result in await asyncio.gather(*map(value_of, results))]
        total = sum(weight * number_of(reward) for weight, reward in zip(self.weights, rewards) if reward is not None)
        return {"reward": total, **logged(numbers)}


def call(function, keywords):
    """Calls `function` with those of `keywords` that it takes."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return function(**keywords)
    names = {parameter.name for parameter in parameters}
    return function(**{name: value for name, value in keywords.items() if name in names})


class Verl:
    """Calls compute_score as verl's reward managers do."""

    def __init__(self, arguments):
        if len(arguments.functions) != 1 or arguments.weights or arguments.tokenizer:
            raise SystemExit("reward_function.py: verl takes one function, without --weights and --tokenizer")
        self.function = load(arguments.functions[0])

    async def answer(self, request):
        row = request["problem"]
        truth = row["reward_model"].get("ground_truth") if isinstance(row.get("reward_model"), dict) else None
        keywords = {"data_source": request["data_source"], "solution_str": request["response"],
                    "ground_truth": request["gold"] if truth is None else truth, "extra_info": row.get("extra_info")}
        score = await value_of(call(self.function, keywords))
        if not isinstance(score, dict):
            return {"reward": number_of(score)}
        return {"reward": number_of(score["score"]), **logged({k: v for k, v in score.items() if k != "score"})}


async def serve(framework, answers):
    """Answers the requests of standard input in their order, several at once."""
    tasks = asyncio.Queue()

    async def answer(request):
        return {"id": request["id"], **await framework.answer(request)}

    async def read():
        loop = asyncio.get_running_loop()
        while True:
            line = await loop.run_in_executor(None, sys.stdin.readline)
            await tasks.put(asyncio.create_task(answer(json.loads(line))) if line else None)
            if not line:
                return

    reader = asyncio.create_task(read())
    while True:
        task = await tasks.get()
        if task is None:
            await reader
            return
        print(json.dumps(await task), file=answers, flush=True)


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # from here on, what anything prints goes to standard error
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=["trl", "verl"])
    parser.add_argument("functions", nargs="+", metavar="FILE.py:FUNCTION")
    parser.add_argument("--weights", nargs="+", type=float, metavar="W", help="a weight of each function of TRL")
    parser.add_argument("--tokenizer", metavar="DIRECTORY", help="model directory whose tokenizer.json makes completion_ids")
    arguments = parser.parse_args()
    framework = (Trl if arguments.framework == "trl" else Verl)(arguments)
    try:
        asyncio.run(serve(framework, answers))
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # a thread may still wait for standard input


if __name__ == "__main__":
    main()
