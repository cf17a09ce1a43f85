"""One training step, from the responses in the log to the new weights."""
import numpy as np
import torch

from . import adamw, loss, rewards
from .batch import Batch
from .model import Model, read_tensors

TRAIN = 0  # the purpose of a response
OVER_TOKENS = ("clip_fraction", "importance_ratio_mean", "tis_weight_mean", "tis_truncated_share")  # means over tokens


def directory_after(run, step):
    """Returns the directory of the weights after a step: a checkpoint, or the start model."""
    return run.directory / f"checkpoints/step-{step:06}" if step else run.start_model


def moments_after(run, step, weights):
    """Returns AdamW's two moments of each weight after a step, 0 at the start."""
    if not step:
        return {name: (torch.zeros_like(weight), torch.zeros_like(weight)) for name, weight in weights.items()}
    tensors = read_tensors(directory_after(run, step), "optimizer")
    return {name: tuple(tensors[f"{moment}_moment.{name}"].reshape(weight.shape) for moment in ("first", "second"))
            for name, weight in weights.items()}


def sampler(run, config, step):
    """Returns the policy that generates with the weights after a step."""
    directory = directory_after(run, step)
    tensors = read_tensors(directory, "model")
    if config["rollout"]["weights"] == "bfloat16":
        tensors = {name: tensor.bfloat16().double() for name, tensor in tensors.items()}
    return Model(directory, tensors)


class Step:
    """The step's responses, and what was computed from them with a config, by default the run's.

    columns   by name, values of the trained responses in canonical order; of token columns one response after the other
    metrics   by name as in metrics.jsonl
    weights, moments   after the step, by name
    rates     of the updates; `updates` is the number of updates since the start of the run
    """

    def __init__(self, run, number, config=None):
        self.run, self.number, self.config = run, number, config or run.config
        samples = run.samples()
        rows = np.flatnonzero((samples["step"] == number) & (samples["purpose"] == TRAIN))
        self.samples = {name: values[rows] for name, values in samples.items()}
        self.rows, self.tokens = rows, run.tokens(rows)
        batches = (samples["mini_batch"].max() + 1) * self.config["update"]["epochs"]
        self.columns, self.metrics, self.updates = {}, {}, (number - 1) * batches
        self._score()
        self._train()

    # --- rewards and advantages

    def _units(self):
        if self.config["reward"]["coverage"]["unit"] == "tokens":
            return [row.ids.tolist() for row in self.tokens]
        return [rewards.words(text) for text in self.run.texts(self.rows, special_tokens=False)["response"]]

    def _score(self):
        n = self.config["reward"]["coverage"]["ngram"]
        counts = [rewards.ngram_counts(units, n) for units in self._units()]
        is_right = self.samples["verdict"] == rewards.EQUAL
        lengths = [len(row.ids) for row in self.tokens]
        groups = self.samples["group"]
        of_group = [(is_right[groups == group].mean(), np.mean(np.array(lengths)[groups == group])) for group in groups]
        scored = [rewards.reward_terms(self.config, *response)
                  for response in zip(is_right, lengths, self.samples["reference_length"], counts, of_group)]
        terms = {name: np.array([float(row[name]) for row in scored]) for name in scored[0]}
        self.columns = {f"reward_{name}": values for name, values in terms.items()}
        self.columns["reward"] = sum(terms.values())
        self.metrics = {f"{name}_mean": values.mean() for name, values in self.columns.items()}
        self.metrics.update(accuracy=is_right.mean(), response_length_mean=np.mean(lengths))
        self.columns["distinct_ngrams"] = np.array([len(found) for found in counts])
        self.columns["ngrams"] = np.array([sum(found.values()) for found in counts])
        self.columns["largest_repeat"] = np.array([max(found.values(), default=0) for found in counts])
        self.columns["advantage"] = self._advantages(terms, is_right, np.array(lengths))
        self.metrics["advantage_magnitude_mean"] = np.abs(self.columns["advantage"]).mean()

    def _advantages(self, terms, is_right, lengths):
        members = [self.samples["group"] == group for group in np.unique(self.samples["group"])]
        groups = [rewards.Group({name: values[own] for name, values in terms.items()}, is_right[own], lengths[own])
                  for own in members]
        found = np.empty(len(self.rows))
        for own, values in zip(members, rewards.advantages(self.config["advantage"], groups)):
            found[own] = values
        return found

    # --- updates

    def _train(self):
        self.model = Model(directory_after(self.run, self.number - 1))
        self.moments = moments_after(self.run, self.number - 1, self.model.weights)
        batches = [MiniBatch(self, number) for number in range(self.samples["mini_batch"].max() + 1)]
        updates = [self._update(batch) for _ in range(self.config["update"]["epochs"]) for batch in batches]
        self.rates = [update["learning_rate"] for update in updates]
        self.weights = {name: weight.detach() for name, weight in self.model.weights.items()}
        self.metrics.update(step_metrics(updates), updates=len(updates))
        self.metrics["entropy_mean"] = np.average([update["entropy"] for update in updates[:len(batches)]],
                                                  weights=[update["tokens"] for update in updates[:len(batches)]])
        for name in batches[0].columns:
            self.columns[name] = self._in_canonical_order(name, batches)

    def _in_canonical_order(self, name, batches):
        by_row = {row: value for batch in batches for row, value in zip(batch.places, batch.columns[name])}
        return np.concatenate([np.atleast_1d(by_row[row]) for row in range(len(self.rows))])

    def _update(self, batch):
        """Updates the weights once. Returns the metrics of the update."""
        settings = self.config["optimizer"]
        metrics = batch.gradient(self.model)
        gradients = {name: weight.grad for name, weight in self.model.weights.items()}
        gradients, metrics["grad_norm"] = adamw.clipped(settings, gradients)
        self.updates += 1
        rate = adamw.learning_rate(settings, self.number if settings["schedule_per_step"] else self.updates)
        metrics["learning_rate"] = rate
        for name, weight in self.model.weights.items():
            self.moments[name] = adamw.moments_with(settings, self.moments[name], gradients[name])
            new = adamw.updated(settings, weight.detach(), self.moments[name], self.updates, rate)
            self.model.weights[name] = new.requires_grad_()
        return metrics


def step_metrics(updates):
    """Returns the metrics of a step from those of its updates."""
    def mean(name, **weights):
        return np.average([update[name] for update in updates], **weights)
    by_tokens = {"weights": [update["tokens"] for update in updates]}
    found = {name: mean(name) for name in updates[0] if name.endswith("loss") or name == "grad_norm"}
    found.update((name, mean(name, **by_tokens)) for name in updates[0] if name in OVER_TOKENS)
    found["importance_ratio_min"] = min(update["importance_ratio_min"] for update in updates)
    found["importance_ratio_max"] = max(update["importance_ratio_max"] for update in updates)
    found["grad_norm_max"] = max(update["grad_norm"] for update in updates)
    found["learning_rate"] = updates[-1]["learning_rate"]
    return found


class MiniBatch:
    """The responses of one update. `columns` holds values of the first pass over them, a row per response."""

    def __init__(self, step, number):
        self.settings, self.temperature = step.config["policy_loss"], step.config["rollout"]["temperature"]
        self.places = np.flatnonzero(step.samples["mini_batch"] == number)
        self.batch = Batch([step.tokens[place] for place in self.places])
        self.advantages = torch.tensor(step.columns["advantage"][self.places])[:, None]
        self.behavior = self._behavior_log_probs(step)
        self.old = self._log_probs(step.model) if self.settings["recompute_old_log_probs"] else self.behavior
        self.reference = self._log_probs(Model(step.run.start_model))
        self.columns = {}

    def _behavior_log_probs(self, step):
        versions = step.samples["policy_version"][self.places]
        found = torch.zeros(self.batch.mask.shape, dtype=torch.float64)
        for version in np.unique(versions):
            found[versions == version] = self._log_probs(sampler(step.run, step.config, version))[versions == version]
        return found

    def _log_probs(self, model):
        with torch.no_grad():
            return model.log_probs(self.batch, self.temperature)[0]

    def gradient(self, model):
        """Leaves the gradient of the loss in the weights. Returns metrics."""
        policy, entropies = model.log_probs(self.batch, self.temperature)
        log_probs = loss.LogProbs(policy, self.old, self.behavior, self.reference)
        parts, metrics = loss.loss_parts(self.settings, log_probs, entropies, self.advantages, self.batch.mask)
        total = sum(parts.values())
        total.backward()
        self.columns = self.columns or self._first_pass(log_probs)
        return {"loss": total.item(), **{name: part.item() for name, part in parts.items()}, **metrics}

    def _first_pass(self, log_probs):
        ratios = (log_probs.policy - log_probs.old).detach().sum(1) / self.batch.lengths
        learner = self.old if self.settings["recompute_old_log_probs"] else log_probs.policy.detach()
        by_response = {"behavior_log_prob": self.behavior, "learner_log_prob": learner}
        return {"sequence_log_ratio": ratios.numpy(),
                **{name: [row[:length].numpy() for row, length in zip(values, self.batch.lengths)]
                   for name, values in by_response.items()}}
