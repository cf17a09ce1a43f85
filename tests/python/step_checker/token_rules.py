"""Token rules: what a complete mini-batch changes of the loss of its tokens. KL-Cov, Clip-Cov: arXiv:2505.22617; 80/20:
arXiv:2506.01939; entropy-based advantage: arXiv:2506.14758. Tensors are [N, T]; the tokens of a mini-batch are those of its
responses in order. `before` holds log-probs and entropies before the step's first update."""
from dataclasses import dataclass

import torch

STREAM = 6  # of the draws of token rules


@dataclass
class Terms:
    advantages: torch.Tensor
    factors: torch.Tensor
    divergences: torch.Tensor


def philox_bits(counter, key):
    """Returns 64 bits of Philox 4x32-10 (Salmon et al., SC 2011)."""
    low = 0xFFFFFFFF
    for round_number in range(10):
        if round_number:
            key = [(key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low]
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(second >> 32) ^ counter[1] ^ key[0], second & low, (first >> 32) ^ counter[3] ^ key[1], first & low]
    return counter[1] << 32 | counter[0]


def count_of(share, count):
    return min(count, max(1, int(share * count)))


def top(values, share):
    """Returns which of the values are the largest; equal ones in order."""
    ranks = torch.sort(values, descending=True, stable=True).indices
    chosen = torch.zeros(len(values), dtype=torch.bool)
    chosen[ranks[:count_of(share, len(values))]] = True
    return chosen


def covariances(terms, before, mask):
    advantages, log_probs = terms.advantages[mask], before.old[mask]
    return (advantages - advantages.mean()) * (log_probs - log_probs.mean())


def distillation(settings, terms, before, mask, draws):
    difference = (before.teacher - before.old)[mask]
    terms.advantages[mask] = settings["with_rewards"] * terms.advantages[mask] + settings["coefficient"] * difference
    return difference > 1e-3


def entropy_advantage(settings, terms, before, mask, draws):
    bonus, bound = settings["alpha"] * before.entropies[mask], terms.advantages[mask].abs() / settings["kappa"]
    terms.advantages[mask] += torch.minimum(bonus, bound)
    return bonus > bound


def geometric_mask(settings, terms, before, mask, draws):
    ratios = ((before.old - before.behavior).sum(1, keepdim=True) / mask.sum(1, keepdim=True)).exp().expand(mask.shape)[mask]
    masked = (ratios < settings["low"]) | (ratios > (settings["high"] or torch.inf))
    terms.factors[mask] = torch.where(masked, 0.0, terms.factors[mask])
    return masked


def high_entropy(settings, terms, before, mask, draws):
    chosen = top(before.entropies[mask], settings["share"])
    terms.factors[mask] = torch.where(chosen, terms.factors[mask], 0.0)
    return chosen


def kl_cov(settings, terms, before, mask, draws):
    chosen = top(covariances(terms, before, mask), settings["share"])
    terms.divergences[mask] += settings["coefficient"] * chosen
    return chosen


def clip_cov(settings, terms, before, mask, draws):
    values = covariances(terms, before, mask)
    candidates = [t for t, value in enumerate(values.tolist()) if settings["low"] < value < settings["high"]]
    candidates.sort(key=lambda t: (philox_bits([draws["step"], draws["mini_batch"], STREAM << 24, t], [draws["seed"], 0]), t))
    chosen = torch.zeros(len(values), dtype=torch.bool)
    chosen[candidates[:count_of(settings["share"], len(values))]] = True
    terms.factors[mask] = torch.where(chosen, 0.0, terms.factors[mask])
    return chosen


RULES = [(distillation, lambda settings: settings["coefficient"] > 0), (entropy_advantage, lambda settings: settings["alpha"] > 0), (geometric_mask, lambda settings: settings["low"] or settings["high"]),
         (high_entropy, lambda settings: settings["share"] < 1), (kl_cov, lambda settings: settings["share"] > 0),
         (clip_cov, lambda settings: settings["share"] > 0)]  # in the order in which they apply


def token_terms(settings, before, advantages, mask, draws):
    """Returns the terms of all tokens, and the metrics of the rules that are on."""
    shape = mask.shape
    terms = Terms(advantages.expand(shape).clone(), torch.ones(shape, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64))
    metrics = {}
    for rule, is_on in RULES:
        own = settings[rule.__name__]
        if is_on(own):
            metrics[f"{rule.__name__}_share"] = rule(own, terms, before, mask, draws).double().mean().item()
    return terms, metrics
