"""Names of metrics and of verdicts. The list of metrics that have changed their names is also in
common/io/metric_names.cpp; a test compares the two."""

NAMES = {
    "groups_all_right_share": "groups_all_correct_share",
    "groups_all_wrong_share": "groups_all_incorrect_share",
    "groups_dropped_all_right": "groups_dropped_all_correct",
    "groups_dropped_all_wrong": "groups_dropped_all_incorrect",
    "wrong_beyond_right_share": "incorrect_beyond_correct_share",
}
PREFIXES = {
    "right_at_": "correct_at_",
    "eval_right_at_": "eval_correct_at_",
}


# By the number in /sample/verdict.
VERDICTS = ("equal", "unequal", "no_answer", "unparsable_answer", "unparsable_gold", "out_of_budget", "undecided", "copied")


def present_metric_name(name):
    """Returns the present name of a metric of an older run, or the name itself."""
    if name in NAMES:
        return NAMES[name]
    for former, present in PREFIXES.items():
        if name.startswith(former):
            return present + name[len(former):]
    return name
