"""Responses as padded tensors."""
import torch
from torch.nn.utils.rnn import pad_sequence


def padded(rows, dtype=torch.float64):
    """Returns rows of different lengths as [N, T], filled with 0."""
    return pad_sequence([torch.tensor(row, dtype=dtype) for row in rows], batch_first=True)


class Batch:
    """Some rows of lie_cluster.Run.samples() with their lie_cluster.Tokens."""

    def __init__(self, tokens):
        self.prompts = torch.tensor([len(row.prompt_ids) for row in tokens])
        self.lengths = torch.tensor([len(row.ids) for row in tokens])
        self.sequences = padded([[*row.prompt_ids, *row.ids] for row in tokens], torch.int64)
        self.places = torch.arange(int(self.lengths.max())).expand(len(tokens), -1)
        self.mask = self.places < self.lengths[:, None]  # [N, T], the tokens of responses
        self.behavior = padded([row.behavior_log_probs for row in tokens])

    def responses_of(self, values):
        """Returns the part of [N, P + T - 1] values that predicts the responses, [N, T]."""
        places = (self.prompts[:, None] - 1 + self.places).clamp(max=values.shape[1] - 1)
        return torch.where(self.mask, values.gather(1, places), 0.0)
