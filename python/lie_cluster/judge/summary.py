"""Measured responses as a table by ranges of steps, as JSON, and the agreement of two passes.

A measured response is a list of passes; a pass is a dict of values by measure, without those that are missing.
"""
import math

import numpy as np

from ..estimates import bootstrap_means, mean, wilson
from .measures import MEASURES

_RESAMPLES = 2000


def _value_of(passes, measure):
    """Returns the mean of the passes that have the measure, or None."""
    values = [one[measure] for one in passes if measure in one]
    return mean(values) if values else None


def summarize(measured, measures):
    """Returns by measure the number of responses that have it, their mean with the bootstrap's interval, and the share
    of values above 0 with Wilson's. Responses count as independent."""
    values = {m: [v for v in (_value_of(passes, m) for passes in measured) if v is not None] for m in measures}
    summary = {m: {"responses": len(found)} for m, found in values.items()}
    for count in {len(found) for found in values.values()} - {0}:
        names = [m for m in measures if len(values[m]) == count]  # these share the bootstrap's draws
        for m, estimate in zip(names, bootstrap_means([values[m] for m in names], _RESAMPLES)):
            share = sum(v > 0 for v in values[m]) / count
            summary[m].update(mean=estimate._asdict(), share_above_0=wilson(share, count)._asdict())
    return summary


def summaries(sample, measured, measures):
    """Returns summarize() for each range of steps, with the range and its number of responses."""
    rows = []
    for first, last in sample.ranges:
        inside = [passes for one, passes in zip(sample.responses, measured) if first <= one.step <= last]
        rows.append({"first_step": first, "last_step": last, "responses": len(inside),
                     "measures": summarize(inside, measures)})
    return rows


def summary_table(ranges):
    """Shows measures as rows and ranges of steps as columns: the mean, and its interval below it."""
    def line(head, cells):
        return f"{head:<20}" + "".join(f"{cell:>15}" for cell in cells) + "\n"

    def title(row):
        first, last = row["first_step"], row["last_step"]
        return f"{first}" if first == last else f"{first}-{last}"
    text = line("steps", map(title, ranges)) + line("responses", (row["responses"] for row in ranges))
    for name in ranges[0]["measures"]:
        found = [row["measures"][name].get("mean") for row in ranges]
        text += line(name, (f"{one['value']:.2f}" if one else "-" for one in found))
        text += line("", (f"[{one['low']:.2f}, {one['high']:.2f}]" if one else "" for one in found))
    return text


def cohen_kappa(ratings):
    """Cohen's kappa of pairs of yes and no; NaN if both raters always give the same one."""
    if not ratings:
        return math.nan
    first, second = (mean([pair[i] for pair in ratings]) for i in (0, 1))
    by_chance = first * second + (1 - first) * (1 - second)
    return math.nan if by_chance == 1 else (mean([a == b for a, b in ratings]) - by_chance) / (1 - by_chance)


def _pearson(first, second):
    if len(set(first)) < 2 or len(set(second)) < 2:
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])


def agreement(measured):
    """Returns by measure how far two passes agree over the responses that both have; empty for one pass."""
    found = {}
    for name in MEASURES:
        pairs = [(a[name], b[name]) for a, b in (p for p in measured if len(p) == 2) if name in a and name in b]
        if not pairs:
            continue
        exact = wilson(mean([a == b for a, b in pairs]), len(pairs))
        numbers = _pearson(*zip(*pairs)), cohen_kappa([(a > 0, b > 0) for a, b in pairs])
        pearson, kappa = (None if math.isnan(x) else x for x in numbers)
        found[name] = {"responses": len(pairs), "exactly_equal": exact._asdict(), "pearson": pearson,
                       "kappa_of_presence": kappa}
    return found


def agreement_table(found):
    """Shows a line per measure; empty for one pass."""
    def line(*cells):
        return "{:<18}{:>10}{:>20}{:>13}{:>19}\n".format(*cells)
    if not found:
        return ""
    text = line("passes 1 and 2", "responses", "exactly equal", "Pearson's r", "kappa of presence")
    for name, two in found.items():
        exact = "{value:.2f} [{low:.2f}, {high:.2f}]".format(**two["exactly_equal"])
        numbers = ("-" if two[key] is None else f"{two[key]:.2f}" for key in ("pearson", "kappa_of_presence"))
        text += line(name, two["responses"], exact, *numbers)
    return text


def sample_report(sample, measured, measures):
    """Returns a source's part of the JSON report: ranges of steps, and every response with its values by pass."""
    rows = [{"place": one.place, "step": one.step, **{m: [values.get(m) for values in passes] for m in measures}}
            for one, passes in zip(sample.responses, measured)]
    return {"source": sample.source, "cut_responses": sum(one.is_cut for one in sample.responses),
            "ranges": summaries(sample, measured, measures), "rows": rows}


def cut_line(report, max_bytes):
    count = report["cut_responses"]
    return f"responses longer than {max_bytes} bytes, judged without their middle: {count}\n" if count else ""
