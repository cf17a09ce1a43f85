"""Tests python -m lie_cluster.study: rows, means over seeds, matched pairs, and refused input.

usage: study_test.py BIN WORK [unittest arguments]        (exit status 77: h5py or PyYAML is missing)
"""
import json
import re
import shutil
import subprocess
import sys
import unittest
import unittest.mock

from environment import ROOT, WORK
import numpy as np
from lie_cluster import Error
from lie_cluster.command_line import write_json
from lie_cluster.estimates import bootstrap_means, holm, mean_interval, paired_p, two_way_bootstrap, wilson
from lie_cluster.metric_names import NAMES, PREFIXES
from lie_cluster.study.budgets import budgets_text, load_budgets
from lie_cluster.study.load import load_study
from lie_cluster.study.page import study_page
from lie_cluster.study.prompts import both_ways_text, final_shares
from lie_cluster.study.report import study_json, study_text
from lie_cluster.study.results import StudyRun
from lie_cluster.study.results_file import load_results, results_json
from lie_cluster.study.rows import load_rows, overrides_text
from lie_cluster.study.sources import load_sources, sources_text
from lie_cluster.study.starts import load_starts, starts_text
from lie_cluster.study.tokens import tokens_text

sys.path.insert(0, str(ROOT / "assets/count_pairs"))
from make_data import PAIRS, Draw  # noqa: E402
from make_find_pair import MAX_TRIES, one_pair, sft_rows  # noqa: E402
from probe_find_pair import full_search  # noqa: E402
from read_responses import read_response  # noqa: E402

ROWS = """plain:
  table: First
  reward: {length: {enabled: false}}
full:
  table: First
  against: plain
wide:
  table: Second
  against: full
  policy_loss: {clip_high: 2.8e-1}
unborn:
  table: Third
"""
PLAIN, FULL = "reward: {length: {enabled: false}}", "reward: {length: {enabled: true}}"


class Study(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        (WORK / "rows.yaml").write_text(ROWS)

    def add_run(self, row, seed, accuracy, settings, steps=2):
        """Writes a run of two steps that ends with this held-out accuracy."""
        run = WORK / row / f"seed-{seed}"
        run.mkdir(parents=True)
        (run / "config.yaml").write_text(f"run: {{seed: {seed}, steps: {steps}}}\n{settings}\n")
        (run / "metrics.jsonl").write_text('{"step":0,"wall_time":1,"eval_accuracy":0.5,"update_seconds":9}\n'
                                           '{"step":1,"wall_time":1,"incorrect_beyond_correct_share":0.75}\n'
                                           f'{{"step":2,"wall_time":1,"eval_accuracy":{accuracy}}}\n')

    def assert_refused(self, words):
        with self.assertRaisesRegex(Error, re.escape(words)):
            load_study(WORK)

    def test_differences_use_the_seeds_that_both_rows_have(self):
        for seed in (1, 2, 3):
            self.add_run("plain", seed, 0.5, PLAIN)
        for seed, accuracy in ((2, 0.75), (3, 1.0), (10, 0.0)):  # seed 10 has no partner
            self.add_run("full", seed, accuracy, FULL)
        study = load_study(WORK)
        full = study.find("full")
        self.assertEqual(list(full.runs), [2, 3, 10])
        difference = study.difference(full)
        self.assertEqual((difference.pairs, difference.above), (2, 2))
        self.assertAlmostEqual(difference.mean.value, 0.375, 12)  # the mean of .25 and .5; s / sqrt(2) is .125
        self.assertAlmostEqual(difference.mean.low, 0.375 - 12.706204736174698 * 0.125, 12)
        self.assertIsNone(study.difference(study.find("plain")))
        self.assertEqual(full.final_mean("incorrect_beyond_correct_share").value, 0.75)
        self.assertIsNone(full.final_mean("update_seconds"))  # step 0 trains nothing

    def test_p_values_are_adjusted_for_all_comparisons_of_the_study(self):
        for seed, accuracy in ((1, 0.25), (2, 0.5), (3, 0.75)):
            self.add_run("plain", seed, 0.125, PLAIN)
            self.add_run("full", seed, 0.125 + accuracy, FULL)
            self.add_run("wide", seed, 0.5 + accuracy / 2, FULL + "\npolicy_loss: {clip_high: 0.28}")
        study = load_study(WORK)
        # Differences of full: .25 .5 .75, so t = 2 sqrt(3) with 2 degrees of freedom. Those of wide: .25 .125 0, t = sqrt(3).
        full, wide = 1 - (12 / 14) ** 0.5, 1 - (3 / 5) ** 0.5
        self.assertAlmostEqual(study.difference(study.find("full")).p, 2 * full, 12)
        self.assertAlmostEqual(study.difference(study.find("wide")).p, wide, 12)
        self.assertAlmostEqual(study_json(study)["rows"][1]["difference"]["p_holm"], 2 * full, 12)

    def test_each_start_counts_once(self):
        for seed, accuracy in ((1, 0.5), (2, 0.75)):
            self.add_run("plain", seed, 0.25, PLAIN)
            self.add_run("full", seed, accuracy, FULL)
        first = load_study(WORK)
        self.setUp()
        self.add_run("plain", 1, 0.5, PLAIN)
        self.add_run("full", 1, 0.375, FULL)
        _, plain, full = starts_text([first, load_study(WORK)]).splitlines()
        self.assertRegex(plain, r"plain +2 +0\.375 \[.*0\.250 0\.500 ")
        self.assertRegex(full, r"\+0\.125 \[.*\+0\.375 -0\.125 +2 of 3")

    def test_a_copy_of_a_run_is_no_other_seed(self):
        self.add_run("plain", 1, 0.5, PLAIN)
        shutil.copytree(WORK / "plain/seed-1", WORK / "plain/seed-2")
        self.assert_refused("plain/seed-2: run.seed is 1, so it is not the run of seed 2; remove it, or name it seed-1")

    def test_a_start_that_is_named_or_copied_twice_is_refused(self):
        self.add_run("plain", 1, 0.5, PLAIN)
        (WORK / "plain/seed-1/inputs.yaml").write_text('{"adapter_sha256": "none", "weights_sha256": "ab"}\n# crc32c: 1\n')
        link, copy = WORK.with_name(WORK.name + "_link"), WORK.with_name(WORK.name + "_copy")
        link.unlink(missing_ok=True)
        shutil.rmtree(copy, ignore_errors=True)
        link.symlink_to(WORK)
        shutil.copytree(WORK, copy)
        for other, words in ((WORK, "are one directory, which would count twice; name it once"),
                             (link, "are one directory, which would count twice; name it once"),
                             (copy, "have runs from the same start model, which would count twice")):
            with self.assertRaisesRegex(Error, re.escape(f"{WORK} and {other} {words}")):
                load_starts([WORK, other])
        inputs = copy / "plain/seed-1/inputs.yaml"
        inputs.write_text(inputs.read_text().replace('"ab"', '"cd"'))
        self.assertEqual(len(load_starts([WORK, copy])), 2)
        link.unlink()
        shutil.rmtree(copy)

    def add_table(self, name, lines, config=None, tokens=40):
        """Writes an evaluation in WORK/name with these (data source, problems, accuracy, accuracy by budget)."""
        (WORK / name).mkdir(parents=True, exist_ok=True)
        rows = [{"data_source": source, "problems": problems, "average": {"value": accuracy}, "response_length_mean": tokens,
                 "budgets": {str(budget): {"value": value} for budget, value in budgets.items()}}
                for source, problems, accuracy, budgets in lines]
        (WORK / name / "table.json").write_text(json.dumps({"rows": rows}))
        if config:
            (WORK / name / "config.yaml").write_text(config)

    def test_tables_that_measure_something_else_are_refused(self):
        total = ("all problems", 4, 0.5, {60: 0.25})
        config = "run: {seed: %s}\nmodel: {path: %s, adapter: ''}\ndata: {evaluation_file: %s}\n"
        self.add_table("budgets/full/seed-1", [total], config % (1, "a", "easy.jsonl"))
        for lines, its_config, words in (
                ([("all problems", 4, 0.5, {60: 0.25, 80: 0.25})], None, "differ in evaluation.budgets ([60, 80], [60])"),
                ([("all problems", 5, 0.5, {60: 0.25})], None, "differ in numbers of problems ([5], [4])"),
                ([("a", 4, 0.5, {60: 0.25}), total], None, "differ in data sources (['a', 'all problems'], ['all problems'])"),
                ([total], config % (1, "b", "hard.jsonl"), "differ in data.evaluation_file (hard.jsonl, easy.jsonl)"),
                ([total], config % (1, "a", "easy.jsonl"), "have the same model and the same run.seed, which would count twice")):
            shutil.rmtree(WORK / "budgets/full/seed-2", ignore_errors=True)
            self.add_table("budgets/full/seed-2", lines, its_config)
            with self.assertRaisesRegex(Error, "full/seed-[12] and .*full/seed-[12] " + re.escape(words)):
                load_budgets(WORK / "budgets")
        for seed, model in ((1, "b"), (2, "a")):  # a model of another run, and other samples of the same model
            self.add_table("budgets/full/seed-2", [total], config % (seed, model, "easy.jsonl"))
            self.assertEqual(list(load_budgets(WORK / "budgets")["full"]), ["seed-1", "seed-2"])
        (WORK / "budgets/full/seed-2/table.json").write_text("{}")
        with self.assertRaisesRegex(Error, "seed-2/table.json is no table of lie_cluster eval"):
            load_sources(WORK / "budgets")

    def test_what_a_longer_limit_adds_is_counted_by_seed(self):
        for seed, cut, limit in ((1, 0.25, 0.5), (2, 0.5, 0.625)):
            budgets = {100: cut, 60: 0.125}
            self.add_table(f"budgets/full/seed-{seed}", [("a", 4, 0, budgets), ("all problems", 4, limit, budgets)])
        rows = load_budgets(WORK / "budgets")
        _, full = budgets_text(rows, 100).splitlines()
        # Gains .25 and .125: the mean is .1875, and Student's t of one degree of freedom times .0625 is .794.
        self.assertRegex(full, r"full +2 +0\.125 +0\.375 +0\.562 .* \+0\.188 \[-0\.607, \+0\.982\] +\+0\.250 \+0\.125")
        with self.assertRaisesRegex(Error, "--from 70 is none of the budgets 60, 100"):
            budgets_text(rows, 70)
        with self.assertRaisesRegex(Error, "holds no ROW/SEED/table.json"):
            load_budgets(WORK / "plain")

    def test_accuracy_is_shown_by_data_source(self):
        for seed, right in ((1, 0.25), (2, 0.5)):
            self.add_table(f"sources/full/seed-{seed}", [("length-4", 8, right, {}), ("length-5", 8, 1.0, {})], tokens=40 * seed)
        _, four, five = sources_text(load_sources(WORK / "sources")).splitlines()
        # Student's t of one degree of freedom times the standard error of .125 is 1.588.
        self.assertRegex(four, r"full +length-4 +2 +0\.375 \[-1\.213, 1\.963\] +60 +0\.250 0\.500")
        self.assertRegex(five, r"full +length-5 +2 +1\.000 .* +60 +1\.000 1\.000")
        with self.assertRaisesRegex(Error, "holds no ROW/SEED/table.json"):
            load_sources(WORK / "plain")

    def test_rows_are_compared_after_the_same_number_of_tokens(self):
        self.add_run("plain", 1, 0.75, PLAIN)
        (WORK / "plain/seed-1/metrics.jsonl").write_text(
            '{"step":0,"eval_accuracy":0.5}\n{"step":1,"response_tokens":100,"c_global_run":40}\n'
            '{"step":2,"response_tokens":100,"c_global_run":70,"eval_accuracy":0.75}\n')
        study = load_study(WORK)
        self.assertRegex(tokens_text(study, 199), r"plain +1 +1 to 1 +0\.500 +40 +-")
        self.assertRegex(tokens_text(study, 200), r"plain +1 +2 to 2 +0\.750 +70 +-")
        self.assertRegex(tokens_text(study, 99), r"plain +1 +0 to 0 +0\.500 +- +-")

    def test_a_table_includes_the_rows_that_its_own_rows_are_compared_with(self):
        self.add_run("plain", 1, 0.5, PLAIN)
        self.add_run("full", 1, 0.75, FULL)
        self.add_run("wide", 1, 0.625, FULL + "\npolicy_loss: {clip_high: 0.28}")
        self.add_run("wide", 2, 0.625, FULL + "\npolicy_loss: {clip_high: 0.28}", steps=9)
        study = load_study(WORK)
        tables = {title: [result.row.name for result in rows] for title, rows in study.tables().items()}
        self.assertEqual(tables, {"First": ["plain", "full"], "Second": ["full", "wide"]})  # the third table has no run
        self.assertIn("-0.125", study_text(study))
        self.assertIn("seed-2: left out: step 2 of 9: in progress, or stopped and resumable", study_text(study))
        self.assertIn("seed 1: 0.625", study_page(study))
        self.assertEqual([row["name"] for row in study_json(study)["rows"]], ["plain", "full", "wide"])

    def test_a_run_that_met_its_goal_is_finished(self):
        for goal, is_met in (("eval_accuracy >= 0.5", True), ("eval_accuracy <= 5e-1", True), ("eval_accuracy >= 0.6", False),
                             ("eval_absent >= 0", False), ("", False)):
            run = StudyRun(WORK, {"run.steps": "9", "run.stop_when": goal}, {"eval_accuracy": {0: 0.75, 2: 0.5}}, 2)
            self.assertEqual(run.is_finished(), is_met, goal)
            state = f"finished: step 2 of 9, {goal}" if is_met else "step 2 of 9: in progress, or stopped and resumable"
            self.assertEqual(run.state(), state)
            self.assertFalse(run._replace(last_step=0).is_finished())
            self.assertFalse(run._replace(last_step=1).is_finished())  # not evaluated

    def test_equal_rows_of_the_evaluation_are_one_prompt(self):
        logged = unittest.mock.Mock()
        logged.samples.return_value = {"purpose": np.array([0, 1, 1, 1, 1, 1]), "step": np.array([2, 1, 2, 2, 2, 2]),
                                       "reward_accuracy": np.array([1, 0, 1, 0, 1, 1.0])}
        keys = [("", "1+1", "2"), ("", "2+2", "4"), ("", "1+1", "2"), ("", "1+1", "3")]
        logged.problem_keys.side_effect = lambda rows: keys if rows.tolist() == [2, 3, 4, 5] else None
        run = unittest.mock.Mock(shares=None, last_step=2)
        with unittest.mock.patch("lie_cluster.study.prompts.Run", return_value=logged):
            self.assertEqual(final_shares(run).tolist(), [1, 0, 1])

    def test_a_results_file_stands_for_the_runs_of_another_computer(self):
        for seed in (1, 2):
            self.add_run("plain", seed, 0.25 * seed, PLAIN)
            self.add_run("full", seed, 0.375 + 0.25 * seed, FULL + "\nmodel: {path: /somewhere/model}")
        (WORK / "plain/seed-2/starts.jsonl").write_text(
            '{"event":"start","time":1,"build_id":"0.1.0+abc"}\n{"event":"start","time":2,"build_id":"0.1.0+def"}\n'
            '{"event":"end","time":90000,"status":0}\n')
        whole = load_study(WORK)
        file = WORK / "results.json"
        write_json(file, results_json(whole, ("eval_accuracy", "incorrect_beyond_correct_share"), lambda run: [run.accuracy(), 1]))
        self.assertNotIn("somewhere", file.read_text())
        self.assertEqual(study_json(load_study(file)), study_json(whole))
        self.assertEqual(list(final_shares(load_study(file).find("plain").runs[2])), [0.5, 1])
        self.assertEqual(load_study(file).find("plain").runs[2].origin, {"program": "0.1.0+abc, 0.1.0+def", "date": "1970-01-02"})

        shutil.rmtree(WORK / "plain")
        shutil.rmtree(WORK / "full")
        self.add_run("full", 3, 1.0, FULL)
        self.assertEqual(list(load_study(WORK, file).find("full").runs), [1, 2, 3])
        other, copy = WORK / "other.json", WORK / "copy.json"
        shutil.copy(file, copy)
        other.write_text(file.read_text().replace('"table": "First"', '"table": "Last"'))
        for places, words in (((file, other), "the studies differ in the row plain"),
                              ((file, file), "are one file, which would count twice; name it once"),
                              ((file, copy), "seed-1 are the same run; remove one of them"),
                              ((WORK / "rows.yaml",), "rows.yaml is no results file")):
            with self.assertRaisesRegex(Error, re.escape(words)):
                load_study(*places)

    def test_former_names_of_metrics_are_read_as_by_the_program(self):
        source = (ROOT / "common/io/metric_names.cpp").read_text()
        pairs = dict(re.findall(r'\{"(\w+)", "(\w+)"\}', source))
        self.assertEqual(pairs, {**NAMES, **PREFIXES})
        self.add_run("plain", 1, 0.5, PLAIN)
        file = WORK / "results.json"
        write_json(file, results_json(load_study(WORK), ("eval_accuracy",), lambda run: [0.5]))
        file.write_text(file.read_text().replace('"eval_accuracy"', '"eval_right_at_64_mean": 0.25, "eval_accuracy"'))
        self.assertEqual(load_results(file).find("plain").final_mean("eval_correct_at_64_mean").value, 0.25)

    def test_what_a_results_file_lacks_is_refused_and_not_guessed(self):
        self.add_run("plain", 1, 0.5, PLAIN)
        file = WORK / "results.json"
        write_json(file, results_json(load_study(WORK), ("eval_accuracy",), lambda run: []))
        for text, words in ((lambda study: tokens_text(study, 100), "plain/seed-1: the tokens of each step are not known"),
                            (both_ways_text, "plain/seed-1: its results file lacks the outcome of each prompt")):
            with self.assertRaisesRegex(Error, words):
                text(load_study(file))

    def test_runs_that_were_evaluated_on_other_numbers_of_prompts_are_refused(self):
        for seed in (1, 2):
            self.add_run("plain", seed, 0.5, PLAIN)
        file = WORK / "results.json"
        write_json(file, results_json(load_study(WORK), ("eval_accuracy",), lambda run: [0.5] * int(run.settings["run.seed"])))
        with self.assertRaisesRegex(Error, "plain/seed-2 and .*plain/seed-1 were evaluated on 2 and 1 prompts"):
            both_ways_text(load_study(file))

    def test_the_interval_of_a_share_stays_within_0_and_1(self):
        for seed, accuracy in ((1, 0.9), (2, 1.0)):
            self.add_run("plain", seed, accuracy, PLAIN)
        found = load_study(WORK).find("plain").final_mean("eval_accuracy")
        self.assertEqual(found.high, 1)
        self.assertAlmostEqual(found.low, 0.95 - 12.706204736174698 * 0.05, 12)

    def test_a_run_that_lacks_the_settings_of_its_row_is_refused(self):
        self.add_run("plain", 1, 0.5, FULL)
        self.assert_refused("reward.length.enabled is true, and false in the row plain")

    def test_runs_that_differ_in_a_key_that_neither_row_sets_are_refused(self):
        self.add_run("plain", 1, 0.5, PLAIN + "\nrollout: {prompts_per_step: 16}")
        self.add_run("full", 1, 0.75, FULL + "\nrollout: {prompts_per_step: 32}")
        self.assert_refused("differ in rollout.prompts_per_step (32, 16), which neither row sets")

    def test_runs_may_differ_in_memory_and_speed(self):
        self.add_run("plain", 1, 0.5, PLAIN + "\nrollout: {slots: 128}")
        self.add_run("full", 1, 0.75, FULL + "\nrollout: {slots: 64}")
        self.assertEqual(load_study(WORK).find("full").final_mean("eval_accuracy").value, 0.75)

    def test_an_algorithm_of_a_row_decides_its_aggregation(self):
        (WORK / "rows.yaml").write_text(ROWS + "luspo:\n  table: First\n  against: plain\n  policy_loss: {algorithm: luspo}\n")
        self.add_run("plain", 1, 0.5, PLAIN + "\npolicy_loss: {algorithm: gspo, aggregation: sequence-mean-token-mean}")
        self.add_run("luspo", 1, 0.625, "policy_loss: {algorithm: luspo, aggregation: constant, constant_divisor: 130}")
        self.assertEqual(load_study(WORK).find("luspo").final_mean("eval_accuracy").value, 0.625)
        self.add_run("full", 1, 0.5, FULL + "\npolicy_loss: {algorithm: gspo, aggregation: constant}")
        self.assert_refused("differ in policy_loss.aggregation")

    def test_a_preset_of_a_row_decides_the_keys_of_its_section_only(self):
        (WORK / "rows.yaml").write_text(ROWS + "paper:\n  table: First\n  against: plain\n  reward: {preset: paper}\n")
        self.add_run("plain", 1, 0.5, "reward: {length: {enabled: false, eta: 0.01}}")
        self.add_run("paper", 1, 0.625, "reward: {preset: paper, length: {enabled: true, eta: 0.0002}}")
        self.assertEqual(load_study(WORK).find("paper").final_mean("eval_accuracy").value, 0.625)
        self.add_run("paper", 2, 0.625, "reward: {preset: paper}\nadvantage: {kind: gdpo}")
        self.add_run("plain", 2, 0.5, PLAIN + "\nadvantage: {kind: group}")
        self.add_run("full", 1, 0.5, FULL + "\nadvantage: {kind: gdpo}")
        shutil.rmtree(WORK / "plain/seed-1")
        self.assert_refused("differ in advantage.kind (gdpo, group), which neither row sets")

    def test_a_directory_without_rows_is_refused(self):
        (WORK / "rows.yaml").unlink()
        self.assert_refused("holds no study (rows.yaml is missing)")

    def test_errors_in_rows_name_the_problem(self):
        for text, words in (("a:\n  against: b\n", "row a has no table"), ("a: 1\n", "a is no row"),
                            ("a:\n  table: T\n  against: b\n", "compared with b, which is no row")):
            (WORK / "rows.yaml").write_text(text)
            self.assert_refused(words)

    def test_overrides_are_separated_by_tabs(self):
        self.assertEqual(overrides_text(load_rows(WORK / "rows.yaml")),
                         "plain\treward.length.enabled=false\nfull\nwide\tpolicy_loss.clip_high=2.8e-1\nunborn\n")


class CountPairs(unittest.TestCase):
    def test_a_response_is_read_by_its_grammar(self):
        prompt = "7 1 20 10 17 4 target 11:\n"  # hits: 7+4 is pair 4 of the list order, 1+10 is pair 6
        self.assertEqual(read_response(prompt, "in order:\n7+1=8 no\n7+4=11 yes 1\n1+10=11 yes 2\n\\boxed{2}"),
                         ([0, 4, 6], [False] * 3, False))
        self.assertEqual(read_response(prompt, "at random:\n7+4=12 no\n7+3=10 no\n\\boxed{1}"), ([4, None], [True, False], True))
        self.assertEqual(read_response(prompt, "in order:\n7+1=\\boxed{ no\n\\boxed{1}"), ([0], [True], True))


class FindPair(unittest.TestCase):
    def test_one_pair_hits_the_target_and_its_smaller_number_is_the_answer(self):
        draw = Draw(3)
        for numbers, target, answer in (one_pair(draw) for _ in range(200)):
            hits = [sorted((numbers[i], numbers[j])) for i, j in PAIRS if numbers[i] + numbers[j] == target]
            self.assertEqual([answer], [smaller for smaller, _ in hits])

    def test_no_taught_search_is_long_and_only_a_cut_one_has_no_end(self):
        ends = {"hit": 0, "stop": 0, "cut": 0}
        for row in sft_rows(7, 400, [6], 0, 0.5, 0.3):
            tries, wrong_sums, lacks_pair = read_response(row["prompt"], row["response"])
            header, *lines, last = row["response"].split("\n")
            self.assertEqual(any(wrong_sums), False)
            self.assertEqual([line.endswith(" yes 1") for line in lines], [False] * (len(tries) - 1) + [not lacks_pair])
            if header == "in order:":
                self.assertEqual(tries, [(tries[0] + at) % len(PAIRS) for at in range(len(tries))])
            end = "hit" if not lacks_pair else "stop" if last else "cut"
            ends[end] += 1
            if end == "hit":
                self.assertEqual(last, f"\\boxed{{{min(map(int, re.findall(r'[0-9]+', lines[-1])[:2]))}}}<|endoftext|>")
            self.assertIn(len(tries), {"hit": range(1, MAX_TRIES + 1), "stop": range(1, MAX_TRIES), "cut": [MAX_TRIES]}[end])
        self.assertTrue(min(ends.values()) > 20, ends)

    def test_the_probe_tries_all_pairs_in_list_order_and_hits_last(self):
        prompt = "7 1 20 10 17 5 target 12:\n"  # 7+5 is pair 4 of the list order
        self.assertEqual(read_response(prompt, full_search(prompt)), ([*range(5, 15), *range(5)], [False] * 15, False))
        self.assertEqual(re.findall(r"(\S+) yes", full_search(prompt)), ["7+5=12"])


class ReplayStudy(unittest.TestCase):
    def table(self):
        return subprocess.run([sys.executable, ROOT / "scripts/replay_study.py", WORK], capture_output=True, text=True)

    def test_any_number_of_seeds_is_averaged(self):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        empty = self.table()
        self.assertEqual(empty.returncode, 1)
        self.assertIn("holds no SEED/replay/eval: run scripts/replay_study.sh", empty.stderr)
        for seed in range(12):
            for run in ("logged", "fresh", "replay"):
                place = WORK / str(seed) / run / "eval/5"
                place.mkdir(parents=True)
                row = {"average": {"value": 0.5 + 0.25 * (seed % 2)}, "response_length_mean": 20}
                (place / "table.json").write_text(json.dumps({"rows": [row]}))
            (WORK / str(seed) / "replay/metrics.jsonl").write_text('{"step":5,"effective_sample_share":0.75}\n')
        # The standard error is 12.5 / sqrt(11), and t of 11 degrees of freedom is 2.201.
        self.assertIn("| 5 | 0.75 (0.75 to 0.75) | 62.5 ± 8.3 | 62.5 ± 8.3 | 62.5 ± 8.3 | 0.0 ± 0.0 |", self.table().stdout)


class Intervals(unittest.TestCase):
    def test_one_value_has_no_interval(self):
        self.assertEqual(mean_interval([0.5]), (0.5, 0.5, 0.5))

    def test_p_of_two_degrees_of_freedom_equals_its_closed_form(self):
        self.assertAlmostEqual(paired_p([1, 2, 3]), 1 - (12 / 14) ** 0.5, 12)  # t^2 = 12; p = 1 - sqrt(t^2 / (t^2 + 2))
        self.assertEqual((paired_p([0, 0]), paired_p([1, 1]), paired_p([0.3 - 0.2, 0.2 - 0.1])), (1, 1, 1))

    def test_holm_equals_an_example_by_hand(self):
        self.assertEqual(holm([0.25, 0.0625, 0.125, 0.75]), [0.5, 0.25, 0.375, 0.75])
        self.assertEqual(holm([0.125, 0.109375]), [0.21875, 0.21875])  # never below that of a smaller p
        self.assertEqual(holm([0.75, 0.75]), [1, 1])

    def test_the_two_way_bootstrap_adds_the_variances_of_rows_and_columns(self):
        rows, columns = range(40), range(60)
        variance = (40 ** 2 - 1) / 12 / 40 + (60 ** 2 - 1) / 12 / 60  # of 0 to n - 1, over n
        value, low, high = two_way_bootstrap([[r + c for c in columns] for r in rows], 4000)
        self.assertEqual(value, 49)
        self.assertAlmostEqual(low, 49 - 1.96 * variance ** 0.5, delta=0.4)
        self.assertAlmostEqual(high, 49 + 1.96 * variance ** 0.5, delta=0.4)

    def test_wilson_interval_equals_a_published_example(self):
        # Newcombe (1998), table I, has this example: 81 of 263.
        value, low, high = wilson(81 / 263, 263)
        self.assertAlmostEqual(low, 0.2553, 4)
        self.assertAlmostEqual(high, 0.3662, 4)
        self.assertEqual(wilson(0.5, 0), (0.5, 0.5, 0.5))

    def test_the_bootstrap_approximates_the_normal_interval_and_is_deterministic(self):
        values = [i % 10 for i in range(1000)]
        found, again = (bootstrap_means([values], 2000)[0] for _ in range(2))
        self.assertEqual(found, again)
        half = 1.96 * (8.25 / 1000) ** 0.5
        self.assertAlmostEqual(found.low, 4.5 - half, delta=0.02)
        self.assertAlmostEqual(found.high, 4.5 + half, delta=0.02)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
