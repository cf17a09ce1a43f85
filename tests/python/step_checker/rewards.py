"""Reward terms and advantages (docs/reference/rewards.md, arXiv:2602.11748, arXiv:2402.03300)."""
import collections
import itertools
import re
from typing import NamedTuple

import numpy as np

EQUAL = 0  # the verdict of a correct answer


def words(text):
    """Returns the words of a text: the parts between white space, split again at underscores."""
    return [part for word in text.split() for part in re.split("_", word)]


def ngram_counts(units, n):
    """Returns how often each n-gram occurs."""
    return collections.Counter(tuple(units[i:i + n]) for i in range(len(units) - n + 1))


def applies(settings, is_right, group_accuracy):
    """Returns whether a term's gate lets a response through."""
    chosen = {"any": True, "correct": is_right, "incorrect": not is_right}[settings["answers"]]
    return chosen and settings["min_group_accuracy"] <= group_accuracy <= settings["max_group_accuracy"]


def length_term(settings, length, reference_length):
    target = reference_length + settings["delta_tokens"] if settings["target"] == "reference" else settings["target_tokens"]
    return -settings["eta"] * max(target - length, 0)


def redundancy_term(settings, counts):
    return -settings["beta"] if max(counts.values(), default=0) >= settings["threshold"] + settings["strict"] else 0.0


def bonus_term(settings, is_right, counts):
    return 0.0 if is_right else settings["per_ngram"] * len(counts)


def overlong_term(settings, length, limit):
    """DAPO, arXiv:2503.14476, equation 13."""
    begin = limit - settings["buffer_tokens"]
    return -settings["penalty"] * max(length - begin, 0) / settings["buffer_tokens"]


def gr3_term(settings, is_right, length, mean_length):
    """GR3, arXiv:2603.10535, as the difference from the accuracy."""
    return is_right / (1 + settings["alpha"] * length / mean_length) - is_right


def cosine_term(settings, is_right, length, limit):
    """The cosine reward, arXiv:2502.03373, as the difference from the accuracy."""
    verdict = "correct" if is_right else "incorrect"
    begin, end = settings[f"{verdict}_short"], settings[f"{verdict}_long"]
    return end + (begin - end) * (1 + np.cos(np.pi * min(length / limit, 1))) / 2 - is_right


def reward_terms(config, is_right, length, reference_length, counts, group):
    """Returns the terms of a response by name; a term that is off is 0. `group`: its group's accuracy and mean length."""
    reward, limit, (accuracy, mean_length) = config["reward"], config["rollout"]["max_response_tokens"], group
    on = {name: reward[name]["enabled"] for name in ("length", "redundancy", "coverage_bonus", "overlong", "gr3", "cosine")}
    for name in ("length", "redundancy"):
        on[name] = on[name] and applies(reward[name], is_right, accuracy)
    terms = {"accuracy": float(is_right),
             "length": on["length"] and length_term(reward["length"], length, reference_length),
             "redundancy": on["redundancy"] and redundancy_term(reward["redundancy"], counts),
             "coverage_bonus": on["coverage_bonus"] and bonus_term(reward["coverage_bonus"], is_right, counts),
             "overlong": on["overlong"] and overlong_term(reward["overlong"], length, limit)}
    if on["gr3"]:
        terms["gr3"] = gr3_term(reward["gr3"], float(is_right), length, mean_length)
    if on["cosine"]:
        terms["cosine"] = cosine_term(reward["cosine"], is_right, length, limit)
    return terms


def normalized(settings, rewards):
    """Returns the advantages of a group with these rewards."""
    if len(rewards) == 1 or np.ptp(rewards) < 1e-12:
        return rewards if len(rewards) == 1 else np.zeros(len(rewards))
    centered = rewards - rewards.mean()
    if settings["leave_one_out"]:
        centered = rewards - (rewards.sum() - rewards) / (len(rewards) - 1)
    return centered / (rewards.std(ddof=1) + 1e-6) if settings["normalize_by_std"] else centered


def group_relative(settings, terms):
    parts = terms if settings["per_term"] else [sum(terms)]
    return sum(normalized(settings, part) for part in parts)


def has_spread(values):
    return np.ptp(values) >= 1e-12


def maxrl(total, is_right):
    """MaxRL, arXiv:2602.02710, with the group's accuracy as divisor."""
    return (total - total.mean()) / is_right.mean() if is_right.any() and has_spread(total) else np.zeros(len(total))


def gdpo(settings, groups):
    """GDPO, arXiv:2601.05242."""
    given = settings["gdpo"]["weights"] or []
    weights = dict(entry.split("=") for entry in ([given] if isinstance(given, str) else given))
    by_std = {"leave_one_out": False, "normalize_by_std": True}
    sums = [sum(float(weights.get(name, 1)) * normalized(by_std, values) for name, values in group.terms.items())
            for group in groups]
    return [values / (np.concatenate(sums).std(ddof=1) + 1e-6) for values in sums]


def batch(settings, groups):
    """Batch-level standard deviation and REINFORCE++ (arXiv:2501.03262)."""
    step = np.concatenate([group.total for group in groups])
    parts = [group.total - (group.total if settings["batch"]["baseline"] == "group" else step).mean() for group in groups]
    spread = (step if settings["batch"]["std_of"] == "rewards" else np.concatenate(parts)).std(ddof=1)
    return [part / (spread + 1e-6) for part in parts]


def vl_norm(settings, groups):
    """VL Normalization, arXiv:2509.07558."""
    lengths = np.concatenate([group.lengths for group in groups])
    weights = (lengths / lengths.mean()) ** -settings["vl_norm"]["alpha"]
    by_std = {"leave_one_out": False, "normalize_by_std": settings["vl_norm"]["normalize_by_std"]}
    found = np.concatenate([normalized(by_std, group.total) for group in groups]) * weights / weights.mean()
    return np.split(found, np.cumsum([len(group.lengths) for group in groups])[:-1])


def length_weighted(group):
    return group.total - np.average(group.total, weights=group.lengths)


def pass_at_k(k, is_right):
    """Pass@k training, arXiv:2508.10751: each response's mean over the subsets of k responses that it is in."""
    subsets = [set(subset) for subset in itertools.combinations(range(len(is_right)), k)]
    passed = np.array([float(any(is_right[i] for i in subset)) for subset in subsets])
    values = (passed - passed.mean()) / (passed.std() + 1e-6)
    return np.array([np.mean([value for value, subset in zip(values, subsets) if i in subset]) for i in range(len(is_right))])


class Group(NamedTuple):
    """The responses to one prompt: reward terms by name, verdicts and lengths in tokens."""

    terms: dict
    is_right: np.ndarray
    lengths: np.ndarray

    @property
    def total(self):
        return sum(self.terms.values())


def advantages(settings, groups):
    """Returns the advantages of each group of a step."""
    name = settings["estimator"]
    if name in ("gdpo", "batch", "vl_norm"):
        return {"gdpo": gdpo, "batch": batch, "vl_norm": vl_norm}[name](settings, groups)
    of_group = {"group-relative": lambda group: group_relative(settings, list(group.terms.values())),
                "maxrl": lambda group: maxrl(group.total, group.is_right), "length_weighted": length_weighted,
                "pass_at_k": lambda group: pass_at_k(settings["pass_at_k"]["k"], group.is_right)}[name]
    return [of_group(group) for group in groups]
