"""Trains small runs and compares their rewards, advantages, losses and weights with those that step_checker computes.

usage: step_checker_test.py BIN WORK [unittest arguments]      (exit status 77: PyTorch, h5py or PyYAML is missing)
"""
import copy
import functools
import os
import shutil
import subprocess
import sys
import unittest

from environment import BIN, ROOT, WORK

try:
    import torch
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)
import lie_cluster
from step_checker.comparison import differences
from step_checker.step import Step

BASE = """
run: {directory: overridden, steps: 2, seed: 5}
model: {path: assets/count_pairs/model, threads: 1}
data: {train_file: assets/count_pairs/train.jsonl}
rollout: {prompts_per_step: 4, samples_per_prompt: 4, max_response_tokens: 40, slots: 16, max_prompt_tokens: 32}
reward:
  coverage: {unit: tokens, ngram: 3}
  length: {delta_tokens: 20, eta: 0.01}
  redundancy: {beta: 0.5, threshold: 2}
update: {mini_batch_prompts: 2}
optimizer: {learning_rate: 1.0e-3, warmup: 0, eps: 1.0e-5}
checkpoint: {every: 1}
"""
KL = "policy_loss.kl_coefficient=0.5"
GRPO = "policy_loss.algorithm=grpo"
CUSTOM = ["policy_loss.algorithm=custom", "policy_loss.ratio_level=token", "policy_loss.surrogate=clip"]
WITHOUT_LIE = ["reward.length.enabled=false", "reward.redundancy.enabled=false"]
RUNS = {
    "gspo": ["policy_loss.clip_low=0.01", "policy_loss.clip_high=0.013", "optimizer.warmup=4"],
    "grpo": [GRPO, "update.epochs=2", "policy_loss.dual_clip=1.1", "reward.coverage.unit=words", "reward.coverage.ngram=2",
             "reward.redundancy.strict=true"],
    "clip-higher": [GRPO, "policy_loss.clip_high=0.28", "update.epochs=2", "reward.length.enabled=false",
                    "reward.coverage_bonus.enabled=true", "reward.coverage_bonus.per_ngram=0.01",
                    "reward.overlong.enabled=true", "reward.overlong.buffer_tokens=35", "run.seed=6", "advantage.normalize_by_std=false"],
    "token-mean": [*CUSTOM, "policy_loss.aggregation=token-mean", "advantage.per_term=true", "optimizer.max_grad_norm=0.1"],
    "constant": [GRPO, "policy_loss.aggregation=constant", "policy_loss.constant_divisor=40", "advantage.leave_one_out=true",
                 "policy_loss.entropy_coefficient=0.1", "reward.length.target=absolute", "reward.length.target_tokens=35"],
    "kl-k2": [KL, "policy_loss.kl_estimator=k2"],
    "kl-k3": [KL, GRPO, "rollout.temperature=0.8", "optimizer.warmup=2", "optimizer.schedule_per_step=true"],
    "kl-weighted-k3": [KL, "policy_loss.kl_estimator=weighted-k3"],
    "tis-truncate": [GRPO, "rollout.weights=bfloat16", "policy_loss.recompute_old_log_probs=true", "policy_loss.tis_cap=1.001"],
    "tis-mask": ["rollout.max_staleness=1", "policy_loss.recompute_old_log_probs=true", "policy_loss.tis_cap=1.1",
                 "policy_loss.tis_level=sequence", "policy_loss.tis_beyond=mask", "run.steps=3"],
    "luspo": ["policy_loss.algorithm=luspo", "update.epochs=2"],
    "cispo": ["policy_loss.algorithm=cispo", "policy_loss.cispo.ceiling=1.02", "update.epochs=2"],
    "sapo": ["policy_loss.algorithm=sapo", "policy_loss.sapo.tau_positive=2", "policy_loss.sapo.tau_negative=3", "update.epochs=2",
             "run.seed=6"],
    "maxrl": [GRPO, "advantage.estimator=maxrl"],
    "gmpo": ["policy_loss.algorithm=gmpo", "policy_loss.gmpo.low=0.06", "policy_loss.gmpo.high=0.05", "update.epochs=2"],
    "gmpo-tis": ["policy_loss.algorithm=gmpo", "policy_loss.recompute_old_log_probs=true", "policy_loss.tis_cap=1.0001",
                 "policy_loss.tis_level=sequence", "rollout.weights=bfloat16", "run.seed=6"],
    "vespo": ["policy_loss.algorithm=vespo", "update.epochs=2", "run.seed=6"],
    "vespo-tis": ["policy_loss.algorithm=vespo", "policy_loss.recompute_old_log_probs=true", "policy_loss.tis_cap=1.001",
                  "rollout.weights=bfloat16"],
    "dppo": ["policy_loss.algorithm=dppo", "policy_loss.dppo.low=0.02", "policy_loss.dppo.high=0.03",
             "policy_loss.dppo.ceiling=1.1", "update.epochs=2", "run.seed=7"],
    "gates": ["reward.length.min_group_accuracy=0.25", "reward.length.answers=any", "reward.redundancy.max_group_accuracy=0.5",
              "reward.redundancy.answers=incorrect", "run.seed=6"],
    "gr3": [*WITHOUT_LIE, "reward.gr3.enabled=true", "advantage.normalize_by_std=false"],
    "cosine": ["reward.cosine.enabled=true", "reward.preset=paper"],
    "gdpo": [GRPO, "advantage.estimator=gdpo", "advantage.gdpo.weights=[length=0.5, redundancy=0.25]", "run.seed=6"],
    "pass-at-k": [GRPO, "advantage.estimator=pass_at_k", "advantage.pass_at_k.k=2", "rollout.temperature=1.5", "run.seed=6", *WITHOUT_LIE],
    "batch": [GRPO, "advantage.estimator=batch"],
    "reinforce++": [GRPO, "advantage.estimator=batch", "advantage.batch.baseline=step"],
    "length-weighted": [*CUSTOM, "advantage.estimator=length_weighted", "policy_loss.aggregation=token-mean"],
    "vl-norm": [GRPO, "advantage.estimator=vl_norm", "policy_loss.aggregation=constant"],
    "two-learners": ["roles.learners=2", "update.gradient_shards=3"],
}
RANKS = {"two-learners": 3}


# A changed setting of the checker, which the run must contradict: run, key, value.
CHANGES = [
    ("gspo", "reward.length.eta", 0.0101), ("gspo", "reward.length.delta_tokens", 21), ("gspo", "reward.redundancy.beta", 0.51),
    ("gspo", "reward.redundancy.threshold", 3), ("gspo", "reward.redundancy.strict", True), ("gspo", "reward.coverage.ngram", 4),
    ("gspo", "reward.coverage.unit", "words"), ("gspo", "policy_loss.clip_low", 0.011), ("gspo", "policy_loss.clip_high", 0.016),
    ("gspo", "optimizer.warmup", 5), ("gspo", "advantage.normalize_by_std", False),
    ("grpo", "policy_loss.clip_low", 0.21), ("grpo", "policy_loss.dual_clip", 1.11),
    ("clip-higher", "policy_loss.clip_high", 0.2), ("clip-higher", "reward.coverage_bonus.per_ngram", 0.0101),
    ("clip-higher", "reward.overlong.buffer_tokens", 34), ("clip-higher", "reward.overlong.penalty", 1.01),
    ("token-mean", "policy_loss.aggregation", "sequence-mean-token-mean"), ("token-mean", "advantage.per_term", False),
    ("token-mean", "policy_loss.ratio_level", "sequence"),
    ("token-mean", "optimizer.max_grad_norm", 0.101), ("constant", "policy_loss.constant_divisor", 41),
    ("constant", "advantage.leave_one_out", False), ("constant", "policy_loss.entropy_coefficient", 0.11),
    ("constant", "reward.length.target_tokens", 36), ("kl-k2", "policy_loss.kl_coefficient", 0.51),
    ("kl-k2", "policy_loss.kl_estimator", "k3"), ("kl-k3", "policy_loss.kl_estimator", "weighted-k3"),
    ("kl-weighted-k3", "policy_loss.kl_estimator", "k2"), ("kl-k3", "rollout.temperature", 0.81),
    ("kl-k3", "optimizer.schedule_per_step", False), ("tis-truncate", "rollout.weights", "float32"),
    ("tis-truncate", "policy_loss.tis_cap", 1.002), ("tis-truncate", "policy_loss.tis_level", "sequence"),
    ("tis-truncate", "policy_loss.tis_beyond", "mask"), ("tis-mask", "policy_loss.tis_cap", 1.3),
    ("tis-mask", "policy_loss.tis_level", "token"), ("tis-mask", "policy_loss.tis_beyond", "truncate"),
    ("luspo", "policy_loss.constant_divisor", 41), ("luspo", "policy_loss.clip_low", 0.3), ("luspo", "policy_loss.clip_high", 0.3),
    ("cispo", "policy_loss.cispo.ceiling", 1.03), ("cispo", "policy_loss.aggregation", "sequence-mean-token-mean"),
    ("sapo", "policy_loss.sapo.tau_positive", 2.2), ("sapo", "policy_loss.sapo.tau_negative", 3.3),
    ("maxrl", "advantage.estimator", "group-relative"),
    ("gmpo", "policy_loss.gmpo.low", 0.07), ("gmpo", "policy_loss.gmpo.high", 0.06), ("gmpo", "policy_loss.algorithm", "gspo"),
    ("gmpo-tis", "policy_loss.tis_cap", 2), ("vespo", "policy_loss.vespo.k_positive", 2.2),
    ("vespo", "policy_loss.vespo.lambda_positive", 3.3), ("vespo", "policy_loss.vespo.k_negative", 3.3),
    ("vespo", "policy_loss.vespo.lambda_negative", 2.2), ("vespo-tis", "policy_loss.tis_cap", 0),
    ("vespo-tis", "policy_loss.tis_level", "sequence"), ("dppo", "policy_loss.dppo.low", 0.03),
    ("dppo", "policy_loss.dppo.high", 0.04), ("dppo", "policy_loss.dppo.ceiling", 1.12),
    ("gates", "reward.length.min_group_accuracy", 0), ("gates", "reward.length.answers", "incorrect"),
    ("gates", "reward.redundancy.max_group_accuracy", 1), ("gates", "reward.redundancy.answers", "any"),
    ("gr3", "reward.gr3.alpha", 0.34), ("cosine", "reward.cosine.correct_long", 0.51), ("cosine", "reward.cosine.incorrect_short", -1.01),
    ("cosine", "reward.length.eta", 0.01),
    ("gdpo", "advantage.gdpo.weights", []), ("gdpo", "advantage.gdpo.weights", ["length=0.5"]),
    ("gdpo", "advantage.estimator", "group-relative"), ("pass-at-k", "advantage.pass_at_k.k", 3),
    ("batch", "advantage.batch.std_of", "advantages"), ("batch", "advantage.estimator", "group-relative"),
    ("reinforce++", "advantage.batch.baseline", "group"), ("length-weighted", "advantage.estimator", "group-relative"),
    ("vl-norm", "advantage.vl_norm.alpha", 1), ("vl-norm", "advantage.vl_norm.normalize_by_std", False),
    ("two-learners", "optimizer.learning_rate", 1.01e-3), ("two-learners", "optimizer.beta1", 0.91),
    ("two-learners", "optimizer.beta2", 0.998), ("two-learners", "optimizer.eps", 1.1e-5),
    ("two-learners", "optimizer.weight_decay", 0.12), ("two-learners", "policy_loss.algorithm", "grpo"),
]


class CheckedRun(lie_cluster.Run):
    start_model = ROOT / "assets/count_pairs/model"


def command_of(name):
    launcher = ["mpirun", "--oversubscribe", "-n", str(RANKS[name])] if name in RANKS else []
    settings = [f"run.directory={WORK / name}", *RUNS[name]]
    return launcher + [BIN / "lie_cluster", "train", WORK / "base.yaml"] + [f"--set={setting}" for setting in settings]


@functools.cache
def train(name):
    """Trains a run of RUNS and returns it."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    ended = subprocess.run(command_of(name), cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return CheckedRun(WORK / name)


def changed(config, key, value):
    config = copy.deepcopy(config)
    *sections, last = key.split(".")
    functools.reduce(dict.get, sections, config)[last] = value
    return config


def setUpModule():
    torch.set_num_threads(1)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    (WORK / "base.yaml").write_text(BASE)


class StepChecker(unittest.TestCase):
    def test_each_step_has_the_rewards_losses_and_weights_of_its_definition(self):
        for name in RUNS:
            run = train(name)
            for number in run.metrics()["step"].tolist():
                with self.subTest(run=name, step=number):
                    self.assertEqual(differences(Step(run, number)), {})

    def test_a_step_differs_from_that_of_another_setting(self):
        for name, key, value in CHANGES:
            run = train(name)
            with self.subTest(run=name, key=key):
                self.assertTrue(differences(Step(run, run.metrics()["step"][-1].item(), changed(run.config, key, value))))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
