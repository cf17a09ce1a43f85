"""Recomputes training steps from a run's log and checkpoints, in float64 and with PyTorch's derivatives.

It is written from the papers and from docs/reference, and shares no code with the program that it checks.
"""
