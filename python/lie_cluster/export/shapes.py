"""The shapes that a run's groups can take in a data set.

    responses   a row per response with the chosen columns
    sft         {"prompt", "completion"}: TRL's SFTTrainer
    messages    {"messages": [..., {"role": "assistant", ...}]}: TRL's and verl's SFT
    pairs       {"prompt", "chosen", "rejected"}: TRL's DPOTrainer
    problems    {"data_source", "prompt": [...], "ability", "reward_model": {"style", "ground_truth"},
                "reference_length", "extra_info": {...}}: verl's RL, and data.train_file

TRL: huggingface.co/docs/trl/dataset_formats. verl: verl.readthedocs.io/en/latest/preparation.
"""
import collections

from .chat_turns import ChatTurns
from .columns import chosen_columns, response_columns

_MESSAGES = [{"role": "", "content": ""}]


def best_right(right, reward):
    """Returns the indices of the right responses by descending reward. Equal rewards keep the order of the responses."""
    return sorted((i for i in range(len(right)) if right[i]), key=lambda i: -reward[i])


def worst_wrong(right, reward):
    """Returns the index of the wrong response with the least reward, the first of several; None if none is wrong."""
    return min((i for i in range(len(right)) if not right[i]), key=lambda i: reward[i], default=None)


class Shape:
    """`example` is a row of its kind; `left_out` counts groups, responses or problems by the reason why they have no row."""

    def __init__(self, options):
        self._options, self.left_out, self.groups = options, collections.Counter(), 0
        self._turns, self._longer = {}, set()  # _longer: problems whose prompts lost tokens

    def rows(self, batch):
        """Yields the rows of a batch."""
        for group in batch.groups:
            self.groups += 1
            if self._is_within(batch.right[group].mean()):
                yield from self.rows_of_group(batch, group)
            else:
                self.left_out["groups of an accuracy out of bounds"] += 1

    def rest(self):
        """Yields the rows that come after the last batch."""
        return iter(())

    def notes(self):
        """Returns sentences about the rows that are written."""
        if not self._longer:
            return []
        return [f"{len(self._longer)} prompts were longer than rollout.max_prompt_tokens: the model read them without their "
                "first tokens, and the messages hold them in full"]

    def _is_within(self, accuracy):
        return self._options.least_accuracy <= accuracy <= self._options.most_accuracy

    def _ranked(self, batch, group):
        """Returns the indices of the best right responses and of the worst wrong one, in the batch. Leaves out right ones
        that were cut at the token limit: trainers put an end of sequence after each response and would teach it there."""
        right, reward = batch.right[group], batch["reward"][group]
        best, worst = [group.start + i for i in best_right(right, reward)], worst_wrong(right, reward)
        complete = [i for i in best if not batch.cut[i]]
        if not best:
            self.left_out["groups without a right response"] += 1
        elif len(complete) < len(best):
            self.left_out["correct responses cut at the token limit"] += len(best) - len(complete)
        return complete, None if worst is None else group.start + worst

    def _messages(self, batch, i):
        logged = batch.logged
        if logged not in self._turns:
            self._turns[logged] = ChatTurns(logged)
        if batch.prompt_tokens_dropped()[i]:
            self._longer.add((logged, batch.problem_keys()[i]))
        return self._turns[logged].of(batch, i)


class _Wording:
    """Prompts and responses as lists of chat messages, or as texts, in which the template surrounds the prompt."""

    def _example_wording(self):
        return _MESSAGES if self._options.messages else ""

    def _prompt(self, batch, i):
        return self._messages(batch, i) if self._options.messages else batch.text("prompt")[i]

    def _response(self, batch, i):
        text = batch.text("response")[i]
        return [{"role": "assistant", "content": text}] if self._options.messages else text


class Responses(Shape):
    def __init__(self, options, runs):
        super().__init__(options)
        self._columns = chosen_columns(response_columns(runs), options.columns)
        self.example = {column.name: column.example for column in self._columns}
        self._batch, self._values = None, []

    def rows_of_group(self, batch, group):
        if batch is not self._batch:
            self._batch, self._values = batch, [column.values(batch) for column in self._columns]
        for i in range(group.start, group.stop):
            yield {column.name: values[i] for column, values in zip(self._columns, self._values)}


class Demonstrations(_Wording, Shape):
    """The best complete right responses of each group."""

    def __init__(self, options, runs):
        super().__init__(options)
        self._is_one_list = options.shape == "messages"
        options.messages = options.messages or self._is_one_list
        wording = self._example_wording()
        self.example = {"messages": wording} if self._is_one_list else {"prompt": wording, "completion": wording}

    def rows_of_group(self, batch, group):
        best, _ = self._ranked(batch, group)
        for i in best[:self._options.best or None]:
            prompt, response = self._prompt(batch, i), self._response(batch, i)
            yield {"messages": prompt + response} if self._is_one_list else {"prompt": prompt, "completion": response}


class Preferences(_Wording, Shape):
    """The best complete right response of each group with its worst wrong one."""

    def __init__(self, options, runs):
        super().__init__(options)
        self.example = dict.fromkeys(("prompt", "chosen", "rejected"), self._example_wording())

    def rows_of_group(self, batch, group):
        best, worst = self._ranked(batch, group)
        if best and worst is None:
            self.left_out["groups without a wrong response"] += 1
        if not best or worst is None:
            return
        yield {"prompt": self._prompt(batch, best[0]), "chosen": self._response(batch, best[0]),
               "rejected": self._response(batch, worst)}


class Problems(Shape):
    """Each problem once, in the order of its first group, with the share of right responses over all of its groups."""

    def __init__(self, options, runs):
        super().__init__(options)
        self._asked = {}  # by Run.problem_keys(): [row without counts, number of responses, number of right ones]
        some = {"data_source": "", "prompt": _MESSAGES, "gold": "", "reference_length": 1.0, "index": 0}
        self.example = self._row(some, 1, 0)

    @staticmethod
    def _row(asked, responses, right):
        return {"data_source": asked["data_source"], "prompt": asked["prompt"], "ability": "math",
                "reward_model": {"style": "rule", "ground_truth": asked["gold"]},
                "reference_length": asked["reference_length"],
                "extra_info": {"index": asked["index"], "responses": responses, "accuracy": right / responses}}

    def rows(self, batch):
        for group in batch.groups:
            self.groups += 1
            i = group.start
            key = source, _, gold = batch.problem_keys()[i]
            if key not in self._asked:
                length = float(batch["reference_length"][i])
                self._asked[key] = [{"data_source": source, "prompt": self._messages(batch, i),
                                     "gold": gold, "reference_length": length if length >= 0 else None,
                                     "index": int(batch["problem"][i])}, 0, 0]
            self._asked[key][1] += group.stop - i
            self._asked[key][2] += int(batch.right[group].sum())
        return iter(())

    def rest(self):
        for asked, responses, right in self._asked.values():
            if self._is_within(right / responses):
                yield self._row(asked, responses, right)
            else:
                self.left_out["problems of an accuracy out of bounds"] += 1


SHAPES = {"responses": Responses, "sft": Demonstrations, "messages": Demonstrations, "pairs": Preferences,
          "problems": Problems}
