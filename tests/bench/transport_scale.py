"""Prints a table of messages, bytes, connections, start and end of tiny runs by the number of ranks.

    tests/bench/transport_scale.py build/release/bin/lie_cluster 4 8 16 --set roles.learners=2

Runs the embedded model for a few tiny steps over TCP on this host; the ranks' own counts
(LIE_TRAFFIC=1) say the rest. Per rank: the largest over all ranks, except "all".
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import peer

STEPS = 4
GROUPS_A_STEP = 64
FLOWS = "farewells world weights learners ticket_requests ticket_answers rollouts scored".split()


def run(program, ranks, settings=()):
    """Returns the counts of each rank, the metrics of each step and the seconds of the whole run."""
    with tempfile.TemporaryDirectory() as directory:
        options = {
            "run.directory": f"{directory}/run",
            "run.steps": STEPS,
            "rollout.prompts_per_step": GROUPS_A_STEP,
            "rollout.samples_per_prompt": 2,
            "rollout.max_response_tokens": 16,
            "update.mini_batch_prompts": GROUPS_A_STEP,
            "checkpoint.every": 1000,
            "evaluation.every": 1000,
            "evaluation.max_response_tokens": 1,
        }
        command = ["mpirun", "--oversubscribe", "-n", str(ranks), "--mca", "btl", "tcp,self"]
        command += ["--mca", "btl_tcp_if_include", "lo", "--mca", "mpi_yield_when_idle", "1"]
        command += [program, "train", "configs/demo.yaml"]
        for setting in [f"{key}={value}" for key, value in options.items()] + list(settings):
            command += ["--set", setting]
        begin = time.monotonic()
        done = subprocess.run(
            command, env=os.environ | {"LIE_TRAFFIC": "1"}, capture_output=True, text=True
        )
        seconds = time.monotonic() - begin
        if done.returncode != 0:
            sys.exit(done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("traffic ")]
        with open(f"{directory}/run/metrics.jsonl") as file:
            metrics = [json.loads(line) for line in file]
    counts = [json.loads(line.removeprefix("traffic ")) for line in lines]
    assert len(counts) == ranks, f"{len(counts)} of {ranks} ranks told their traffic"
    return counts, [line for line in metrics if line["step"] > 0], seconds


def row(program, ranks, settings):
    counts, metrics, seconds = run(program, ranks, settings)

    def of(rank, what):
        return sum(rank[flow][what] for flow in FLOWS if flow in rank)

    def all_of(flow, what="sent"):
        return sum(rank[flow][what] for rank in counts if flow in rank)

    first_ticket = max(r["ticket_answers"]["first_seconds"] for r in counts if r["role"] == "actor")
    idle = sum(line["idle_share_actor"] for line in metrics) / len(metrics)
    return {
        "ranks": ranks,
        "start s": f"{first_ticket:.2f}",
        "end s": f"{max(rank['end_seconds'] for rank in counts):.3f}",
        "whole s": f"{seconds:.1f}",
        "sockets, rank 0": max(rank["sockets"] for rank in counts if rank["rank"] == 0),
        "reward worker": max(r["sockets"] for r in counts if "reward" in r["role"]),
        "actor": max(r["sockets"] for r in counts if r["role"] == "actor"),
        "start all": all_of("world"),
        "end all": all_of("farewells"),
        "messages a step": round(sum(of(rank, "sent") for rank in counts) / ranks / STEPS),
        "kB a step": round(sum(of(rank, "sent_bytes") for rank in counts) / ranks / STEPS / 1e3),
        "weights kB all": round(all_of("weights", "sent_bytes") / (STEPS + 1) / 1e3),
        "actors idle": f"{100 * idle:.0f} %",
    }


def main():
    parser = peer.arguments(__doc__)
    parser.add_argument("program", type=peer.existing, help="lie_cluster")
    parser.add_argument("ranks", type=peer.positive, nargs="+", help="numbers of ranks")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of lie_cluster train")
    args = parser.parse_args()
    for i, ranks in enumerate(args.ranks):
        cells = row(args.program, ranks, args.set)
        if i == 0:
            print("| " + " | ".join(cells) + " |")
            print("|" + "---|" * len(cells))
        print("| " + " | ".join(map(str, cells.values())) + " |", flush=True)


if __name__ == "__main__":
    main()
