"""Compares a step that was computed here with what the run has stored.

The run computes in float32. Its log-probs are off by some 1e-6 nats after sums over 96 to 320 products. Values computed
from them have relative errors of the same size. New weights are rounded to float32. This error is 6e-8 of a weight, and up
to 3e-4 of a small change of it.
"""
import numpy as np
import torch

from .model import read_tensors
from .step import directory_after, entropy_coefficient_after, moments_after

COLUMN_TOLERANCES = {"distinct_ngrams": 0, "ngrams": 0, "largest_repeat": 0, "behavior_log_prob": 5e-5, "learner_log_prob": 5e-5}
TOLERANCE = 1e-5  # of other columns, all about 1 or less
METRIC_TOLERANCE = 5e-5  # of 1 + the metric: a mean, or the extreme importance ratio of a token
MOMENT_TOLERANCE = 1e-4  # the norm of the error as a share of the norm
WEIGHT_TOLERANCE = 1e-3  # the norm of the error as a share of the norm of the step's change


def logged_column(step, name):
    if name in ("behavior_log_prob", "learner_log_prob"):
        return np.concatenate([getattr(row, f"{name}s") for row in step.tokens])
    return step.samples[name]


def logged_metric(step, name):
    metrics = step.run.metrics()
    return metrics[name][metrics["step"] == step.number].item()


def flat(tensors):
    return torch.cat([tensor.flatten() for tensor in tensors])


def relative_error(found, expected):
    found, expected = flat(found), flat(expected)
    return torch.linalg.vector_norm(found - expected).item() / max(torch.linalg.vector_norm(expected).item(), 1e-30)


def state_errors(step):
    """Returns the errors of moments and weights as shares of their tolerances."""
    before, after = (read_tensors(directory_after(step.run, number), "model") for number in (step.number - 1, step.number))
    moments = moments_after(step.run, step.number, after)
    errors = {f"moment {i + 1}": relative_error([moments[name][i] for name in after], [step.moments[name][i] for name in after])
              / MOMENT_TOLERANCE for i in range(2)}
    errors["weights"] = relative_error([after[name] - before[name] for name in after],
                                       [step.weights[name] - before[name] for name in after]) / WEIGHT_TOLERANCE
    return errors


def errors_of(step):
    """Returns each error as a share of its tolerance, by name. NaN is an infinite error."""
    errors = state_errors(step)
    for name, values in step.columns.items():
        tolerance = max(COLUMN_TOLERANCES.get(name, TOLERANCE), 1e-300)
        errors[name] = np.abs(logged_column(step, name) - values).max() / tolerance
    for name, value in step.metrics.items():
        errors[f"metric {name}"] = abs(logged_metric(step, name) - value) / (METRIC_TOLERANCE * (1 + abs(value)))
    errors["next entropy coefficient"] = abs(entropy_coefficient_after(step.run, step.number) - step.next_entropy_coefficient) / 1e-12
    return {name: float(np.nan_to_num(error, nan=np.inf)) for name, error in errors.items()}


def differences(step):
    """Returns by name the errors that exceed their tolerance, as multiples of it."""
    return {name: error for name, error in errors_of(step).items() if error > 1}
