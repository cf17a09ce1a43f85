"""Tests the LLM judge without its endpoint: answers, phrases, samples, tables and the cache.

usage: judge_test.py BIN WORK [unittest arguments]        (exit status 77: h5py or PyYAML is missing)
"""
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import types
import unittest

from environment import BIN, ROOT, WORK
import numpy as np
from lie_cluster import Error
from lie_cluster.command_line import number_range, without_open_end
from lie_cluster.judge.answer_cache import AnswerCache, AnswerCode, Completion
from lie_cluster.judge.endpoint import _seconds_asked_for, endpoint_url
from lie_cluster.judge.measures import BEHAVIORS, TOPICS, graph_shape, prompt_text, read_answer
from lie_cluster.judge.phrases import count_phrases, parse_phrases
from lie_cluster.judge.questions import Asking, key_of, questions_about
from lie_cluster.judge.sampled_responses import Sample, SampledResponse, draw, draw_sample, without_middle
from lie_cluster.judge.summary import agreement, cohen_kappa, summarize
from lie_cluster.random_bits import random_bits


class RandomBits(unittest.TestCase):
    def test_words_equal_the_published_known_answers(self):
        # Random123's kat_vectors of philox4x32-10; the program takes output words 1 and 0.
        self.assertEqual(int(random_bits(0, 0)), 0xE169C58D6627E8D5)
        every = 0xFFFFFFFF
        self.assertEqual(int(random_bits(2 ** 64 - 1, 0, every, every, every, every)), 0x41C83B0E408F276D)
        self.assertEqual(int(random_bits(0x299F31D0A4093822, 0, 0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)),
                         0x94FDCCEBD16CFE09)


class ReasoningGraph(unittest.TestCase):
    def test_depth_is_the_longest_chain_and_width_the_largest_level(self):
        self.assertEqual(graph_shape([[], [1], [1], [3], [2, 4]]), (4, 2))  # the levels are 1, 2, 2, 3, 4

    def test_a_chain_is_deep_and_separate_attempts_are_wide(self):
        self.assertEqual(graph_shape([[], [1], [2], [3]]), (4, 1))
        self.assertEqual(graph_shape([[], [], []]), (1, 3))
        self.assertEqual(graph_shape([]), (0, 0))

    def test_a_step_may_only_build_on_earlier_steps(self):
        for steps in ([[1]], [[], [3], []], [[], [0]]):
            self.assertIsNone(graph_shape(steps))


class Answers(unittest.TestCase):
    def test_the_example_in_a_prompt_is_not_a_valid_count_but_a_valid_graph(self):
        for topic in TOPICS[:-1]:
            self.assertEqual(read_answer(topic, prompt_text(topic)), {})
        self.assertEqual(read_answer("graph", prompt_text("graph")), {"graph_depth": 4, "graph_width": 2})

    def test_only_the_object_at_the_end_of_an_answer_is_read(self):
        found = read_answer("backtracking", '{"count": 5} at first, but\n{"count": 3}\n```\n')
        self.assertEqual(found, {"backtracking": 3})
        self.assertEqual(read_answer("subgoals", '{"count": 3}.'), {})
        self.assertEqual(read_answer("subgoals", '{"builds_on": []}'), {})
        self.assertEqual(read_answer("graph", '{"count": 3}'), {})
        self.assertEqual(read_answer("graph", '{"builds_on": [[], 1]}'), {})
        self.assertEqual(read_answer("subgoals", '{"count": true}'), {})

    def test_a_missing_prompt_file_is_named(self):
        with self.assertRaisesRegex(Error, "cannot read .*none/verification.txt"):
            prompt_text("verification", WORK / "none")

    def test_a_malformed_retry_after_counts_as_none(self):
        for text in ("", "soon", "nan", "inf", "Mon, 99", "Thu, 01 Jan 9999999 00:00:00 GMT", ","):
            self.assertEqual(_seconds_asked_for({"retry-after": text}), 0, text)
        self.assertEqual(_seconds_asked_for({"retry-after": "1.5"}), 1.5)
        self.assertGreater(_seconds_asked_for({"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}), 1e6)

    def test_a_trailing_slash_is_removed_and_a_url_with_a_secret_is_refused(self):
        self.assertEqual(endpoint_url("http://localhost:8000/v1/"), "http://localhost:8000/v1")
        for bad in ("https://me:secret@host/v1", "https://host/v1?key=secret"):
            with self.assertRaises(Error) as caught:
                endpoint_url(bad)
            self.assertNotIn("secret", str(caught.exception))


class Phrases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.patterns = parse_phrases(prompt_text("phrases"), "phrases.txt")

    def count(self, behavior, text):
        return count_phrases(self.patterns, text)[behavior]

    def test_a_sentence_counts_once_per_behavior(self):
        text = "Wait, hold on. Let me check and verify that x = 1.5 works! So 3."
        self.assertEqual(count_phrases(self.patterns, text),
                         {"verification": 1, "backtracking": 1, "subgoals": 0, "backward_chaining": 0, "enumeration": 0})
        self.assertEqual(self.count("enumeration", "We go through all, one by one. Next try 7."), 2)

    def test_case_apostrophes_and_punctuation_are_ignored_and_only_whole_words_match(self):
        self.assertEqual(self.count("verification", "LET\u2019S, check it."), 1)
        self.assertEqual(self.count("backtracking", "They waited; await it."), 0)
        self.assertEqual(self.count("backtracking", "Try\nagain"), 1)
        self.assertEqual(self.count("backtracking", "Try\n\nagain"), 0)  # another paragraph

    def test_a_gap_matches_up_to_twelve_words_of_the_same_sentence(self):
        twelve = "a b c d e f g h i j k l"
        self.assertEqual(self.count("subgoals", f"First {twelve} then"), 1)
        self.assertEqual(self.count("subgoals", f"First {twelve} m then"), 0)
        self.assertEqual(self.count("subgoals", "First a. Now then"), 0)
        # The last "then" is too far from the first "first", but not from the second.
        self.assertEqual(self.count("subgoals", f"First {twelve} m first then"), 1)

    def test_an_error_in_a_phrase_list_names_its_line(self):
        for bad in ("guessing: maybe", "verification", "subgoals: ...", "subgoals:", "graph_depth: deep"):
            with self.assertRaisesRegex(Error, "^mine.txt:2:"):
                parse_phrases(f"# x\n{bad}", "mine.txt")


class Draw(unittest.TestCase):
    step = np.repeat(np.arange(1, 31), 20)  # 30 steps of 4 groups of 5 responses
    group, sample = np.tile(np.repeat(np.arange(4), 5), 30), np.tile(np.arange(5), 120)

    def draw(self, ranges, count, seed):
        return draw(self.step, self.group, self.sample, ranges, count, seed)

    def test_every_step_contributes_one_response_before_any_contributes_two(self):
        by_step = np.bincount(self.step[self.draw([(1, 10), (11, 30)], 60, 1)])
        self.assertEqual(set(by_step[1:11]), {3})
        self.assertEqual(set(by_step[11:]), {1, 2})

    def test_the_sample_depends_only_on_the_seed_and_a_larger_one_contains_the_smaller(self):
        small, large = self.draw([(1, 30)], 40, 1), self.draw([(1, 30)], 90, 1)
        self.assertEqual(small.tolist(), self.draw([(1, 30)], 40, 1).tolist())
        self.assertNotEqual(small.tolist(), self.draw([(1, 30)], 40, 2).tolist())
        self.assertLess(set(small), set(large))
        self.assertEqual(len(self.draw([(1, 30)], 0, 1)), 600)

    def test_the_middle_of_a_long_response_is_removed_without_splitting_a_character(self):
        self.assertEqual(without_middle("short", 5), "short")
        self.assertEqual(without_middle("abécdéef", 6), "ab\n[... 4 bytes left out here ...]\néef")

    def test_a_range_may_be_open_on_either_side(self):
        parse = number_range("--steps")
        self.assertEqual([parse(text) for text in ("5-10", "-5", "7")], [(5, 10), (0, 5), (7, 7)])
        self.assertEqual(without_open_end(parse("5-"), 40), (5, 40))
        self.assertEqual(without_open_end(parse(""), 40), (0, 40))
        for bad in ("a", "5-4", "1-2-3", "5 - 6", "1.5", "--5"):
            with self.assertRaisesRegex(Exception, f"--steps {bad}: expected a range such as 5-10"):
                parse(bad)


class Summary(unittest.TestCase):
    def test_kappa_equals_a_published_example(self):
        # Kappa is defined by Cohen (1960). The example is Wikipedia's.
        ratings = 20 * [(True, True)] + 5 * [(True, False)] + 10 * [(False, True)] + 15 * [(False, False)]
        self.assertAlmostEqual(cohen_kappa(ratings), 0.4, 12)
        self.assertTrue(math.isnan(cohen_kappa([(True, True)] * 3)))

    def test_a_response_is_the_mean_of_its_passes_without_missing_ones(self):
        measured = [[{"verification": 2}, {"verification": 4}], [{"verification": 1}, {}], [{}, {}]]
        found = summarize(measured, ["verification", "subgoals"])
        self.assertEqual(found["verification"]["responses"], 2)
        self.assertEqual(found["verification"]["mean"]["value"], 2)  # the mean of 3 and 1
        self.assertEqual(found["verification"]["share_above_0"]["value"], 1)
        self.assertEqual(found["subgoals"], {"responses": 0})

    def test_agreement_covers_the_responses_that_both_passes_measured(self):
        pairs = [(0, 0), (2, 3), (5, 5)]
        measured = [[{"subgoals": a}, {"subgoals": b}] for a, b in pairs] + [[{"subgoals": 7}, {}]]
        found = agreement(measured)["subgoals"]
        self.assertEqual(found["responses"], 3)
        self.assertAlmostEqual(found["exactly_equal"]["value"], 2 / 3, 12)
        self.assertEqual(found["kappa_of_presence"], 1)
        self.assertGreater(found["pearson"], 0.97)


class Asked(unittest.TestCase):
    options = types.SimpleNamespace(model="judge-1", temperature=0.0, judge_seed=1, max_tokens=4096, passes=1, prompts=None,
                                    extra={}, concurrency=3, requests_per_minute=None, input_price=2.0, output_price=10.0)
    response = SampledResponse(1, "rows.jsonl:1", "1+1?", "2", False)

    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)

    def questions(self, responses=1, **changes):
        options = types.SimpleNamespace(**{**vars(self.options), **changes})
        return questions_about(Sample("rows.jsonl", [(1, 1)], [self.response] * responses), options)

    def ask(self, questions, play):
        cache = AnswerCache(WORK / "judge")
        self.addCleanup(cache.close)
        asking = Asking(questions, cache, types.SimpleNamespace(ask=play), self.options)
        asking.run()
        return asking, cache

    def test_a_cache_key_equals_that_of_the_cpp_program(self):
        # A key is the SHA-256 of nlohmann's compact form: sorted keys, non-ASCII characters unescaped.
        body = {"temperature": 0.0, "model": "m\u2028\x00\x7fé", "seed": 1, "x": [1, 2.5, None, True]}
        self.assertEqual(key_of(body), hashlib.sha256(
            '{"model":"m\u2028\\u0000\x7fé","seed":1,"temperature":0.0,"x":[1,2.5,null,true]}'.encode()).hexdigest())

    def test_equal_responses_share_one_question(self):
        asking, _ = self.ask(self.questions(3), lambda body: Completion(AnswerCode.OK, '{"count": 1}', "", 100, 10))
        self.assertEqual((asking.asked, asking.from_cache), (len(TOPICS), 2 * len(TOPICS)))
        self.assertEqual((asking.prompt_tokens, asking.completion_tokens), (100 * len(TOPICS), 10 * len(TOPICS)))
        self.assertAlmostEqual(asking.cost, len(TOPICS) * (100 * 2e-6 + 10 * 10e-6))

    def test_eight_consecutive_failures_stop_the_requests_and_are_not_cached(self):
        questions = [q for i in range(10) for q in self.questions(judge_seed=i)]
        failed, cache = self.ask(questions, lambda body: Completion(AnswerCode.UNREACHABLE))
        self.assertTrue(8 <= failed.asked <= 10, failed.asked)  # three threads send requests at the same time
        cache.close()
        self.assertEqual((WORK / "judge/answers.jsonl").read_text(), "")

    def test_a_second_pass_puts_the_texts_first_and_uses_the_next_seed(self):
        first, second = (q for q in self.questions(passes=2, judge_seed=7) if q.topic == "graph")
        self.assertEqual((first.body["seed"], second.body["seed"]), (7, 8))
        self.assertFalse(first.body["messages"][0]["content"].startswith("<problem>"))
        self.assertTrue(second.body["messages"][0]["content"].startswith("<problem>\n1+1?\n</problem>"))

    def test_extra_parameters_are_merged_and_null_removes_a_parameter(self):
        extra = {"max_tokens": None, "thinking": {"type": "off", "budget": None}}
        body = self.questions(extra=extra)[0].body
        self.assertNotIn("max_tokens", body)
        self.assertEqual(body["thinking"], {"type": "off"})

    def test_a_cache_of_the_cpp_program_is_read_and_its_torn_line_is_removed(self):
        (WORK / "judge").mkdir(parents=True)
        line = ('{"code":"ok","completion_tokens":10,"detail":"","key":"k1","pass":1,"prompt_tokens":100,'
                '"text":"{\\"count\\": 2}","topic":"subgoals"}\n')
        (WORK / "judge/answers.jsonl").write_text(line + '{"key": "torn')
        cache = AnswerCache(WORK / "judge")
        self.addCleanup(cache.close)
        self.assertEqual(cache.find("k1"), Completion(AnswerCode.OK, '{"count": 2}', "", 100, 10))
        self.assertEqual((WORK / "judge/answers.jsonl").read_text(), line)
        with self.assertRaisesRegex(Error, "another process uses it"):
            AnswerCache(WORK / "judge")


DRAWN = types.SimpleNamespace(evaluation=False, steps=[], samples=0, seed=1, max_bytes=60000)


class Behaviors(unittest.TestCase):
    def behaviors(self, *arguments):
        return subprocess.run([sys.executable, "-m", "lie_cluster.behaviors", *map(str, arguments)], capture_output=True,
                              text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        self.rows, self.report = WORK / "rows.jsonl", WORK / "report.json"

    def write(self, *responses):
        self.rows.write_text("".join(json.dumps({"prompt": "1+1?", "response": text}) + "\n" for text in responses))

    def test_phrases_are_counted_without_a_server(self):
        self.write("2. Let me check. Wait, is this correct?", "2")
        done = self.behaviors(self.rows, "--json", self.report)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(self.report.read_text())["sources"][0]["ranges"][0]["measures"]
        self.assertEqual(found["verification"]["mean"]["value"], 1)
        self.assertEqual(found["backtracking"]["mean"]["value"], 0.5)
        self.assertEqual(list(found), list(BEHAVIORS))
        self.assertIn("proxy", done.stdout)

    def test_chat_prompts_are_read_as_text(self):
        one, two = {"role": "user", "content": "1+1?"}, {"from": "human", "value": "2+2?"}
        for prompt, text in (([one], "1+1?"), ([one, two], "user: 1+1?\n\nuser: 2+2?"),
                             ([{"role": "user", "content": [{"type": "text", "text": "a"}]}], "a")):
            self.rows.write_text(json.dumps({"prompt": prompt, "response": "2"}) + "\n")
            self.assertEqual(draw_sample(self.rows, DRAWN).responses[0].prompt, text)
        for prompt in ([], ["1+1?"], [{"role": "user"}], [{"role": "user", "content": 2}]):
            self.rows.write_text(json.dumps({"prompt": prompt, "response": "2"}) + "\n")
            with self.assertRaisesRegex(Error, "rows.jsonl:1: field prompt: expected a text, or a list of messages"):
                draw_sample(self.rows, DRAWN)

    def test_missing_trajectory_files_are_noted(self):
        subprocess.run([BIN / "write_example_run", WORK / "run", "1", "90"], check=True)
        index = WORK / "run/trajectories/index.jsonl"
        index.write_text('{"file":"learner-000-segment-000009.h5","learner":0,"first_step":91,"last_step":95}\n')
        self.assertIn(f"{WORK}/run: learner-000-segment-000009.h5 is missing: it held steps 91 to 95",
                      self.behaviors(WORK / "run").stderr)

    def test_the_responses_of_a_run_are_sampled_over_its_steps(self):
        subprocess.run([BIN / "write_example_run", WORK / "run", "1", "90"], check=True)
        self.assertIn("holds no tokenizer.json", self.behaviors(WORK / "run").stderr)
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(ROOT / "assets/count_pairs/model" / name, WORK / "run/checkpoints/step-000040")
        done = self.behaviors(WORK / "run", "--samples", 40, "--json", self.report)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(self.report.read_text())["sources"][0]
        self.assertEqual(sorted(row["step"] for row in found["rows"]), list(range(1, 41)))
        self.assertEqual([row["first_step"] for row in found["ranges"]], [1, 11, 21, 31])
        # A seed selects the same responses as in the C++ program.
        self.assertEqual([row["place"] for row in found["rows"][:3]],
                         ["step 1, group 11, sample 10", "step 2, group 3, sample 4", "step 3, group 1, sample 3"])
        self.behaviors(WORK / "run", "--samples", 9, "--evaluation", "--steps", "0", "--steps", "10-20", "--json", self.report)
        found = json.loads(self.report.read_text())["sources"][0]
        self.assertEqual([row["step"] for row in found["rows"]], 5 * [0] + 2 * [10] + 2 * [20])

    def test_bad_input_is_reported_on_one_line_that_names_the_place(self):
        (WORK / "bad.jsonl").write_text('{"prompt": "a"}\n')
        (WORK / "empty").write_text("")
        for arguments, words in ((["bad.jsonl"], "bad.jsonl:1: field response: expected a text"),
                                 (["empty"], "empty: holds no row"), (["none"], "none: no such file"),
                                 (["bad.jsonl", "--steps", "7-3"], "--steps 7-3: expected a range such as")):
            done = self.behaviors(WORK / arguments[0], *arguments[1:])
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_an_output_that_cannot_be_written_is_an_error(self):
        self.write("2")
        with open("/dev/full", "w") as full:
            done = subprocess.run([sys.executable, "-m", "lie_cluster.behaviors", self.rows], stdout=full, stderr=subprocess.PIPE,
                                  text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output cannot be written: No space left on device", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
