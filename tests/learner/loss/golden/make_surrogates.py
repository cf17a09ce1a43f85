"""Golden numbers for surrogates, from NumPy in double precision.

    python tests/learner/loss/golden/make_surrogates.py > tests/learner/loss/golden/surrogates.h

Losses are written from the papers and differentiated by complex steps: the imaginary part of f(x + ih) / h is f'(x) to
rounding, for a step h that is too small to matter (Squire and Trapp, 1998). To add a surrogate, add a function of
(log-probs, old log-probs, advantage) to its settings in SURROGATES.
"""
import numpy as np

STEP = 1e-30


def rounded(values):
    """Rounds to values that a float can hold, so that both programs start from the same numbers."""
    return np.array(values, np.float32).astype(np.float64)


def response(log_ratios):
    old = rounded(-2.5 - 0.7 * np.arange(len(log_ratios)) % 2.0)
    return rounded(old + log_ratios), old


# Ratios on both sides of 1, a response of one token, and tokens whose log-probs are equal.
RESPONSES = [response([0.05, -0.3, 0.9, -1.2, 0.22, 2.3]), response([0.1]), response([0.0, 0.0, 0.0])]
ADVANTAGES = [1.25, -0.75, 0.0]


def stopped(x):
    """Returns a value through which no gradient flows."""
    return np.real(x)


def cispo(ceiling):
    def losses(policy, old, advantage):
        weight = np.minimum(stopped(np.exp(policy - old)), ceiling)
        return -stopped(weight) * advantage * policy
    return losses


def sapo(tau_positive, tau_negative):
    def losses(policy, old, advantage):
        tau = tau_positive if advantage > 0 else tau_negative
        return -advantage * 4 / tau / (1 + np.exp(-tau * (np.exp(policy - old) - 1)))
    return losses


def sequence_clip(low, high):
    """GSPO and LUSPO: each token has the loss of its response."""
    def losses(policy, old, advantage):
        ratio = np.exp((policy - old).mean())
        bounded = min(max(stopped(ratio), 1 - low), 1 + high)
        one = -advantage * (ratio if -advantage * stopped(ratio) >= -advantage * bounded else bounded)
        return one * np.ones(len(policy))
    return losses


def gmpo(low, high):
    """GMPO: exp of the mean of log-ratios, each limited on the side where it raises the objective."""
    def losses(policy, old, advantage):
        sign = np.sign(advantage)
        d = policy - old
        limited = [x if sign * stopped(x) <= sign * np.clip(stopped(x), -low, high) else np.clip(stopped(x), -low, high) for x in d]
        return -advantage * np.exp(np.mean(limited)) * np.ones(len(d))
    return losses


def vespo(k_positive=2, lambda_positive=3, k_negative=3, lambda_negative=2):
    def losses(policy, old, advantage):
        k, decay = (k_positive, lambda_positive) if advantage >= 0 else (k_negative, lambda_negative)
        ratio = np.exp(stopped(policy - old).sum())
        return -(ratio ** k * np.exp(decay * (1 - ratio))) * advantage * policy
    return losses


def dppo(low=0.15, high=0.15, ceiling=10000):
    def losses(policy, old, advantage):
        rise = np.exp(stopped(policy)) - np.exp(old)
        beyond = (rise > high) if advantage > 0 else (rise < -low) if advantage < 0 else np.zeros(len(rise), bool)
        weight = np.minimum(np.exp(stopped(policy) - old), ceiling)
        return np.where(beyond, 0, -weight * advantage * policy)
    return losses


def sequence_mean(losses):
    return sum(x.mean() for x in losses) / len(losses)


def token_mean(losses):
    return np.concatenate(losses).mean()


def divided_by(divisor):
    return lambda losses: np.concatenate(losses).sum() / (len(losses) * divisor)


# The settings within policy_loss, the token losses, and the default aggregation.
SURROGATES = [
    (["algorithm=luspo", "constant_divisor=20"], sequence_clip(2e-3, 2.5e-3), divided_by(20)),
    (["algorithm=luspo", "constant_divisor=20", "clip_low=0.5", "clip_high=0.5"], sequence_clip(0.5, 0.5), divided_by(20)),
    (["algorithm=luspo", "clip_low=0", "clip_high=0"], sequence_clip(0, 0), divided_by(1000)),  # ratios of 1 are at the bound
    (["algorithm=cispo"], cispo(5), token_mean),
    (["algorithm=cispo", "cispo.ceiling=1"], cispo(1), token_mean),  # ratios of 1 are at the bound
    (["algorithm=cispo", "cispo.ceiling=1.2", "aggregation=sequence-mean-token-mean"], cispo(1.2), sequence_mean),
    (["algorithm=sapo"], sapo(1, 1.05), sequence_mean),
    (["algorithm=sapo", "sapo.tau_positive=2", "sapo.tau_negative=3", "aggregation=token-mean"], sapo(2, 3), token_mean),
    (["algorithm=gmpo"], gmpo(0.4, 0.4), sequence_mean),
    (["algorithm=gmpo", "gmpo.low=0.25", "gmpo.high=0.5"], gmpo(0.25, 0.5), sequence_mean),
    (["algorithm=gmpo", "gmpo.low=0", "gmpo.high=0"], gmpo(0, 0), sequence_mean),  # ratios of 1 are at the bound
    (["algorithm=vespo"], vespo(), token_mean),
    (["algorithm=vespo", "vespo.k_positive=1", "vespo.lambda_positive=0.5", "vespo.k_negative=0", "vespo.lambda_negative=1.5",
      "aggregation=sequence-mean-token-mean"], vespo(1, 0.5, 0, 1.5), sequence_mean),
    (["algorithm=dppo"], dppo(), token_mean),
    (["algorithm=dppo", "dppo.low=0.03", "dppo.high=0.05", "dppo.ceiling=1.1", "aggregation=sequence-mean-token-mean"],
     dppo(0.03, 0.05, 1.1), sequence_mean),
    (["algorithm=dppo", "dppo.low=0", "dppo.high=0"], dppo(0, 0), token_mean),  # equal probabilities are at the bound
]


def slopes_of(total, policy):
    """Returns the derivatives of total(policy) by the log-probs."""
    slopes = []
    for t in range(len(policy)):
        shifted = policy.astype(complex)
        shifted[t] += STEP * 1j
        slopes.append(np.imag(total(shifted)) / STEP)
    return slopes


def listed(values):
    return "{" + ", ".join(f"{value:.17g}" for value in values) + "}"


def floats(values):
    return "{" + ", ".join(f"{value:#.9g}F" for value in values) + "}"


def texts(values):
    return "{" + ", ".join(f'"{value}"' for value in values) + "}"


def print_responses():
    """Prints the token losses of each response with each advantage, and the derivatives of their sum."""
    for settings, losses, _ in SURROGATES:
        for policy, old in RESPONSES:
            for advantage in ADVANTAGES:
                slopes = slopes_of(lambda x: losses(x, old, advantage).sum(), policy)
                values = np.real(losses(policy, old, advantage) + np.zeros(len(policy)))
                print(f"    {{{texts(settings)}, {advantage}, {floats(policy)}, {floats(old)}, {listed(values)}, {listed(slopes)}}},")


def print_mini_batches():
    """Prints the loss of a mini-batch of all responses, each with its advantage, and its derivatives."""
    lengths = np.cumsum([len(policy) for policy, _ in RESPONSES])[:-1]
    for settings, losses, mean in SURROGATES:
        def total(policy):
            parts = zip(np.split(policy, lengths), RESPONSES, ADVANTAGES)
            return mean([losses(x, old, advantage) + np.zeros(len(x)) for x, (_, old), advantage in parts])
        policy = np.concatenate([policy for policy, _ in RESPONSES])
        print(f"    {{{texts(settings)}, {np.real(total(policy)):.17g}, {listed(slopes_of(total, policy))}}},")


print("""// Made by make_surrogates.py; do not edit.
#pragma once

#include <string>
#include <vector>

namespace lie::golden {

/// A response, its token losses under these settings, and the derivatives of their sum.
struct SurrogateResponse {
  std::vector<std::string> settings;
  double advantage;
  std::vector<float> log_probs, old_log_probs;
  std::vector<double> losses, slopes;
};

/// The loss of a mini-batch of the responses of the first settings, each with its advantage.
struct SurrogateMiniBatch {
  std::vector<std::string> settings;
  double loss;
  std::vector<double> slopes;
};

// clang-format off
inline const std::vector<SurrogateResponse> kSurrogateResponses = {""")
print_responses()
print("};\n\ninline const std::vector<SurrogateMiniBatch> kSurrogateMiniBatches = {")
print_mini_batches()
print("};\n// clang-format on\n\n}  // namespace lie::golden")
