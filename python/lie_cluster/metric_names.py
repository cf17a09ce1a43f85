"""Metrics that have changed their names. The same list is in common/io/metric_names.cpp; a test compares the two."""

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


def present_metric_name(name):
    """Returns the present name of a metric of an older run, or the name itself."""
    if name in NAMES:
        return NAMES[name]
    for former, present in PREFIXES.items():
        if name.startswith(former):
            return present + name[len(former):]
    return name
