"""Reward terms and advantages (docs/reference/rewards.md, arXiv:2602.11748, arXiv:2402.03300)."""
import collections
import re

import numpy as np

EQUAL = 0  # the verdict of a correct answer


def words(text):
    """Returns the words of a text: the parts between white space, split again at underscores."""
    return [part for word in text.split() for part in re.split("_", word)]


def ngram_counts(units, n):
    """Returns how often each n-gram occurs."""
    return collections.Counter(tuple(units[i:i + n]) for i in range(len(units) - n + 1))


def length_term(settings, is_right, length, reference_length):
    target = reference_length + settings["delta_tokens"] if settings["target"] == "reference" else settings["target_tokens"]
    return 0.0 if is_right else -settings["eta"] * max(target - length, 0)


def redundancy_term(settings, counts):
    return -settings["beta"] if max(counts.values(), default=0) >= settings["threshold"] + settings["strict"] else 0.0


def bonus_term(settings, is_right, counts):
    return 0.0 if is_right else settings["per_ngram"] * len(counts)


def overlong_term(settings, length, limit):
    """DAPO, arXiv:2503.14476, equation 13."""
    begin = limit - settings["buffer_tokens"]
    return -settings["penalty"] * max(length - begin, 0) / settings["buffer_tokens"]


def reward_terms(config, is_right, length, reference_length, counts):
    """Returns the terms of a response by name; a term that is off is 0."""
    reward, limit = config["reward"], config["rollout"]["max_response_tokens"]
    on = {name: reward[name]["enabled"] for name in ("length", "redundancy", "coverage_bonus", "overlong")}
    return {"accuracy": float(is_right),
            "length": on["length"] and length_term(reward["length"], is_right, length, reference_length),
            "redundancy": on["redundancy"] and redundancy_term(reward["redundancy"], counts),
            "coverage_bonus": on["coverage_bonus"] and bonus_term(reward["coverage_bonus"], is_right, counts),
            "overlong": on["overlong"] and overlong_term(reward["overlong"], length, limit)}


def normalized(settings, rewards):
    """Returns the advantages of a group with these rewards."""
    if len(rewards) == 1 or np.ptp(rewards) < 1e-12:
        return rewards if len(rewards) == 1 else np.zeros(len(rewards))
    centered = rewards - rewards.mean()
    if settings["leave_one_out"]:
        centered = rewards - (rewards.sum() - rewards) / (len(rewards) - 1)
    return centered / (rewards.std(ddof=1) + 1e-6) if settings["normalize_by_std"] else centered


def maxrl(total, is_right):
    """MaxRL, arXiv:2602.02710, with the group's accuracy as divisor."""
    return (total - total.mean()) / is_right.mean() if is_right.any() and np.ptp(total) >= 1e-12 else np.zeros(len(total))


def advantages(settings, terms, is_right):
    """Returns the advantages of a group with these terms, each an array over the group. GDPO: arXiv:2601.05242."""
    if settings["estimator"] == "maxrl":
        return maxrl(sum(terms.values()), is_right)
    parts = list(terms.values()) if settings["per_term"] else [sum(terms.values())]
    return sum(normalized(settings, part) for part in parts)
