#!/usr/bin/env python3
"""examples/reward_function.py calls reward functions as TRL and verl do: reward_function_test.py BIN WORK

The functions of the packages trl and verl themselves are tested where these are installed; scripts/check_python.sh
installs them. Where BIN has lie_cluster, a run with such a function is compared with the verdicts of the verifier.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "reward_function.py"
BIN = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/release/bin"
if len(sys.argv) > 1:
    sys.argv.pop(1)

FUNCTIONS = '''
import asyncio, re
print("printed when imported")

def has_tags(completions, **kwargs):
    print("printed when called")
    texts = [completion[0]["content"] for completion in completions]
    return [1.0 if re.fullmatch("<think>.*</think>.*", text, re.S) else 0.0 for text in texts]

def length_of_text(prompts, completions):
    assert prompts == ["2 + 3?"], prompts
    return [float(len(completion)) for completion in completions]

def by_columns(completions, gold, level, trainer_state, log_metric, **kwargs):
    log_metric("steps so far", trainer_state.global_step)
    return [float(g in c) * l for c, g, l in zip(completions, gold, level)]

def only_code(completions, task, **kwargs):
    return [1.0 if t == "code" else None for t in task]

def number_of_tokens(completion_ids, **kwargs):
    return [float(len(ids)) for ids in completion_ids]

class Waiting:
    begun = 0
    all_here = asyncio.Event()

async def waits_for_three(completions, **kwargs):
    Waiting.begun += 1
    if Waiting.begun == 3:
        Waiting.all_here.set()
    await Waiting.all_here.wait()
    return [float(completions[0])]

def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return {"score": float(solution_str == ground_truth), "acc": solution_str == ground_truth, "pred": solution_str,
            "source": float(data_source == "math"), "split": float(extra_info["split"] == "train")}

async def later_score(data_source, solution_str, ground_truth, extra_info=None):
    await asyncio.sleep(0)
    return 0.5

def fails(completions, **kwargs):
    raise ValueError("no such reward")
'''


def file_of_package(package, *parts):
    """Returns a file of an installed package without importing the package, or None."""
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).parent.joinpath(*parts) if spec and spec.origin else None
    return path if path and path.is_file() else None


class RewardFunction(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "my_rewards.py"
        self.file.write_text(FUNCTIONS, encoding="utf-8")

    def run_program(self, arguments, requests):
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        return subprocess.run([sys.executable, str(PROGRAM), *arguments], input=lines, text=True, capture_output=True,
                              check=False, timeout=60)

    def request(self, number, response, **problem):
        problem = {"prompt": "2 + 3?", "gold": "5", **problem}
        return {"id": number, "step": 7, "purpose": "train", "group": 0, "sample": number, "problem": problem,
                "prompt": "the template of 2 + 3?", "gold": problem["gold"], "data_source": "math",
                "response": response, "tokens": 3, "finish": "end_of_sequence"}

    def answers(self, framework, functions, requests, *options):
        done = self.run_program([framework, *[f"{self.file}:{f}" for f in functions], *options], requests)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer.pop("id") for answer in answers], [request["id"] for request in requests])
        return answers, done.stderr

    def test_a_chat_prompt_makes_completions_of_messages(self):
        chat = [{"role": "user", "content": "2 + 3?"}]
        requests = [self.request(0, "<think>a</think>5", prompt=chat), self.request(1, "5", prompt=chat)]
        answers, messages = self.answers("trl", ["has_tags"], requests)
        self.assertEqual(answers, [{"reward": 1.0}, {"reward": 0.0}])
        self.assertIn("printed when imported", messages)
        self.assertIn("printed when called", messages)

    def test_a_text_prompt_makes_completions_of_texts(self):
        answers, _ = self.answers("trl", ["length_of_text"], [self.request(0, "four")])
        self.assertEqual(answers, [{"reward": 4.0}])

    def test_columns_state_and_metrics_are_passed(self):
        requests = [self.request(0, "it is 5", level=3), self.request(1, "it is 6", level=3)]
        answers, _ = self.answers("trl", ["by_columns"], requests)
        self.assertEqual(answers, [{"reward": 3.0, "steps_so_far": 7.0}, {"reward": 0.0, "steps_so_far": 7.0}])

    def test_functions_are_added_with_weights_and_none_is_left_out(self):
        requests = [self.request(0, "four", task="code"), self.request(1, "four", task="math")]
        answers, _ = self.answers("trl", ["length_of_text", "only_code"], requests, "--weights", "0.5", "10")
        self.assertEqual(answers, [{"reward": 12.0}, {"reward": 2.0}])

    def test_coroutines_run_at_the_same_time_and_answer_in_order(self):
        requests = [self.request(number, str(number)) for number in (0, 1, 2)]
        answers, _ = self.answers("trl", ["waits_for_three"], requests)
        self.assertEqual(answers, [{"reward": 0.0}, {"reward": 1.0}, {"reward": 2.0}])

    def test_completion_ids_need_a_tokenizer(self):
        done = self.run_program(["trl", f"{self.file}:number_of_tokens"], [self.request(0, "5")])
        self.assertEqual(done.returncode, 1)
        self.assertIn("pass --tokenizer", done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("tokenizers"), "tokenizers is not installed")
    def test_completion_ids_are_the_tokens_of_the_response(self):
        requests = [self.request(0, "1+2=3")]
        model = str(ROOT / "assets/count_pairs/model")
        answers, _ = self.answers("trl", ["number_of_tokens"], requests, "--tokenizer", model)
        self.assertEqual(answers, [{"reward": 5.0}])

    def test_verl_functions_get_verls_arguments(self):
        row = {"reward_model": {"style": "rule", "ground_truth": "5"}, "extra_info": {"split": "train"}}
        requests = [self.request(0, "5", gold="other", **row), self.request(1, "6", **row)]
        answers, _ = self.answers("verl", ["compute_score"], requests)
        self.assertEqual(answers[0], {"reward": 1.0, "acc": 1.0, "pred": 5.0, "source": 1.0, "split": 1.0})
        self.assertEqual(answers[1]["reward"], 0.0)
        self.assertEqual(self.answers("verl", ["later_score"], requests)[0], [{"reward": 0.5}] * 2)

    def test_a_failing_function_ends_the_program_with_its_traceback(self):
        done = self.run_program(["trl", f"{self.file}:fails"], [self.request(0, "5")])
        self.assertEqual(done.returncode, 1)
        self.assertIn("ValueError: no such reward", done.stderr)

    def test_an_unknown_function_is_named(self):
        done = self.run_program(["verl", f"{self.file}:no_such"], [])
        self.assertIn("has no function no_such", done.stderr)

    @unittest.skipUnless(file_of_package("trl", "rewards", "format_rewards.py"), "trl is not installed")
    def test_a_function_of_trl_runs_as_it_is(self):
        file = file_of_package("trl", "rewards", "format_rewards.py")
        chat = [{"role": "user", "content": "2 + 3?"}]
        requests = [self.request(0, "<think>\na\n</think>\n5", prompt=chat), self.request(1, "<think>\na\n5", prompt=chat)]
        done = self.run_program(["trl", f"{file}:think_format_reward"], requests)
        self.assertEqual([json.loads(line)["reward"] for line in done.stdout.splitlines()], [1.0, 0.0], done.stderr)

    @unittest.skipUnless(file_of_package("verl", "utils", "reward_score", "gsm8k.py"), "verl is not installed")
    def test_a_function_of_verl_runs_as_it_is(self):
        file = file_of_package("verl", "utils", "reward_score", "gsm8k.py")
        requests = [self.request(0, "so\n#### 5"), self.request(1, "so\n#### 6"), self.request(2, "so 5")]
        done = self.run_program(["verl", f"{file}:compute_score"], requests)
        self.assertEqual([json.loads(line)["reward"] for line in done.stdout.splitlines()], [1.0, 0.0, 0.0], done.stderr)

    @unittest.skipUnless((BIN / "lie_cluster").exists(), "lie_cluster is not built")
    def test_a_run_is_rewarded_by_a_function_of_trl(self):
        self.file.write_text("def boxed(completions, gold, **kwargs):\n"
                             "    return [float(c.count('boxed') > 0 and g in c) for c, g in zip(completions, gold)]\n",
                             encoding="utf-8")
        command = f"{sys.executable} {PROGRAM} trl {self.file}:boxed"
        settings = [f"run.directory={self.folder}/run", "run.steps=1", "rollout.prompts_per_step=4",
                    "rollout.samples_per_prompt=4", "evaluation.every=0", f"reward.command={command}"]
        arguments = [part for setting in settings for part in ("--set", setting)]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run([BIN / "lie_cluster", "train", "configs/demo.yaml", *arguments], cwd=ROOT, text=True,
                              capture_output=True, check=False, timeout=300, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        metrics = json.loads((self.folder / "run/metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        self.assertGreaterEqual(metrics["reward_command_mean"], metrics["accuracy"])
        self.assertGreater(metrics["reward_command_mean"], 0.0)


if __name__ == "__main__":
    unittest.main()
