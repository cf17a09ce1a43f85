"""Reads the run directories of LIE Cluster: every response, metric and setting of a run.

    import lie_cluster
    run = lie_cluster.Run("runs/demo/lie")              # finished, killed, or still running
    run.samples()["reward"], run.metrics()["accuracy"]  # NumPy arrays: a row per response, a row per step
    run.samples(frame="pandas")                         # or "polars"
    run.tokens(0).behavior_log_probs, run.texts([0])["response"]
"""
from .error import Error

try:
    from .run import Run, Tokens
except ModuleNotFoundError as missing:
    raise ImportError(f"lie_cluster needs the package {missing.name}; install the requirements: "
                      "pip install numpy h5py pyyaml") from missing

__version__ = "0.1.0"
__all__ = ["Error", "Run", "Tokens"]
