"""Intervals over seeds and prompts. Both are resampled, so the intervals also cover the choice of held-out prompts."""
import numpy as np

from ..error import Error
from ..estimates import two_way_bootstrap
from ..run import Run
from .report import aligned, interval_text

_RESAMPLES = 10000
_HEADS = ["row", "seeds", "accuracy", "difference", "to"]


def final_shares(run):
    """Returns each held-out prompt's share of correct responses at the end of a run; nothing if its results file has none.
    Equal rows of the evaluation file are one prompt, as for `lie_cluster eval`."""
    if run.shares is not None:
        return np.array(run.shares)
    logged = Run(run.directory)
    columns = logged.samples(["purpose", "step", "reward_accuracy"])
    last = np.flatnonzero((columns["purpose"] == 1) & (columns["step"] == run.last_step))
    if len(last) == 0:
        raise Error(f"{run.directory}: its trajectory files hold no response of the last evaluation")
    index = {}  # of each prompt, in the order of the file
    prompt = [index.setdefault(key, len(index)) for key in logged.problem_keys(last)]
    return np.bincount(prompt, columns["reward_accuracy"][last]) / np.bincount(prompt)


def both_ways_text(study):
    """Shows accuracy and difference of each row with the interval of the bootstrap over seeds and prompts."""
    outcomes, lines = {}, [_HEADS]

    def of(run):
        if run.directory not in outcomes:
            outcomes[run.directory] = final_shares(run)
            if len(outcomes[run.directory]) == 0:
                raise Error(f"{run.directory}: its results file lacks the outcome of each prompt; leave out --prompts")
        return outcomes[run.directory]

    def of_all(runs):
        for run in runs:
            if len(of(run)) != len(of(runs[0])):
                raise Error(f"{run.directory} and {runs[0].directory} were evaluated on {len(of(run))} and "
                            f"{len(of(runs[0]))} prompts, which cannot be resampled together; leave out --prompts")
        return [of(run) for run in runs]
    for result in study.with_runs():
        accuracy = two_way_bootstrap(of_all(list(result.runs.values())), _RESAMPLES)
        cells = [result.row.name, str(len(result.runs)), interval_text(accuracy), "-", "-"]
        pairs = [np.subtract(*of_all(pair)) for pair in study.pairs(result)]
        if pairs:
            cells[3:] = [interval_text(two_way_bootstrap(pairs, _RESAMPLES), "{:+.3f}"), result.row.against]
        lines.append(cells)
    return f"Over seeds and prompts\n{aligned(lines)}\n"
