#!/usr/bin/env python3
"""Draws the pictures of README and studies into docs/images:

    draw_pictures.py            accuracy-and-length.svg and effects.svg, from docs/studies/results
    draw_pictures.py --check    exit status 1 if a file differs from what would be drawn
    draw_pictures.py --kill BIN digests.svg: trains four steps of the demo twice, once killed and resumed on another number
                                of ranks, and draws the digests of both

Needs NumPy.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
from lie_cluster.estimates import mean_interval  # noqa: E402
from lie_cluster.study.load import load_study  # noqa: E402

IMAGES = ROOT / "docs" / "images"
RESULTS = ROOT / "docs" / "studies" / "results"
START = (15.9, 0.557)  # step 0 of every run: tokens, accuracy
SEARCH = 95            # tokens of a full enumeration
GSPO, LIE, PAPER = "#c2410c", "#1d4ed8", "#0f766e"
FONT = 'font-family="Helvetica, Arial, sans-serif"'
WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 84, 66
MOST_TOKENS, ACCURACIES = 140, (0.5, 1.0)

# Rows of runs with equal seeds: what is compared, the results files, the row, and the row that it is compared with.
EFFECTS = (("LIE against GSPO", (
    ("the demo", ("paper-scale",), "lie-demo", "gspo"),
    ("the demo, penalty of the paper's size", ("paper-scale",), "lie-paper", "gspo"),
    *((f"lazy answer correct in {dose}", (f"dose-{dose}",), "gspo-lie", "gspo") for dose in ("0.10", "0.30", "0.55", "0.75")),
    ("taught the search (injection)", ("injection-with",), "gspo-lie", "gspo"),
    ("not taught the search", ("injection-without",), "gspo-lie", "gspo"),
    ("mixed lengths of lists", ("list-lengths",), "gspo-lie", "gspo"),
    ("find the pair", ("rivals-find-pair",), "gspo-lie", "gspo"),
    ("find the pair, penalty of the paper's size", ("rivals-find-pair", "find-pair-paper"), "lie-paper", "gspo"),
    ("the demo's task, SmolLM2-135M", ("real-search",), "gspo-lie", "gspo"),
    ("word problems, SmolLM2-135M", ("word-problems",), "gspo-lie", "gspo"),
    ("word problems, gated LIE", ("word-problems",), "gated-lie", "gspo"))),
           ("LIE with a rival, against the rival alone, on the demo", tuple(
    (name, ("rivals-demo",), f"{rival}-lie", rival) for name, rival in (
        ("LUSPO", "luspo"), ("CISPO", "cispo"), ("SAPO", "sapo"), ("KL-Cov", "kl-cov"), ("GRPO, clip-higher", "grpo-clip-higher"),
        ("MaxRL", "maxrl"), ("entropy target", "entropy-target"), ("80/20", "high-entropy"), ("cosine reward", "cosine")))),
           ("A change of LIE against LIE, on the demo", (
    ("short correct answers pay, too", ("controls",), "flat-length", "gspo-lie"),
    ("targets shuffled over the prompts", ("controls",), "shuffled-targets", "gspo-lie"),
    ("coverage in words", ("controls",), "words", "gspo-lie"),
    ("only in groups with a correct answer", ("controls",), "gated-lie", "gspo-lie"),
    ("a random verdict", ("controls",), "random-verdict", "gspo-lie"))))


def x_of(tokens):
    return LEFT + (WIDTH - LEFT - RIGHT) * tokens / MOST_TOKENS


def y_of(accuracy):
    low, high = ACCURACIES
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (accuracy - low) / (high - low)


def text(x, y, words, size=14, anchor="start", color="#1f2937", weight="normal", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" {FONT} font-size="{size}" text-anchor="{anchor}" fill="{color}" '
            f'font-weight="{weight}"{more}>{escape(words)}</text>')


def mark(x, y, shape, color):
    if shape == "square":
        return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="{color}" fill-opacity="0.75"/>'
    if shape == "small square":
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="none" stroke="{color}" stroke-opacity="0.75"/>'
    if shape == "triangle":
        return f'<path d="M{x:.1f} {y - 6:.1f}L{x + 6:.1f} {y + 5:.1f}H{x - 6:.1f}Z" fill="{color}" fill-opacity="0.75"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{color}" fill-opacity="0.75"/>'


def axes():
    parts = []
    for tokens in range(0, MOST_TOKENS + 1, 20):
        x = x_of(tokens)
        parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e5e7eb"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 20, str(tokens), anchor="middle"))
    for tenths in range(5, 11):
        y = y_of(tenths / 10)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/>')
        parts.append(text(LEFT - 10, y + 5, f"{tenths / 10:.1f}", anchor="end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 44, "mean length of a held-out response, tokens", anchor="middle"))
    parts.append(text(22, middle, "held-out accuracy", anchor="middle", more=f' transform="rotate(-90 22 {middle:.1f})"'))
    return parts


def ends_of(file, row=None):
    """Returns length and accuracy at the end of each run of a results file, by seed and row."""
    runs = json.loads((RESULTS / file).read_text(encoding="utf-8"))["runs"]
    return {(run["seed"], run["row"]): (run["final"]["eval_response_length_mean"], run["final"]["eval_accuracy"]) for run in runs
            if row in (None, run["row"])}


def accuracy_and_length():
    """Returns the picture of the end of each run: accuracy against length."""
    tuned = ends_of("tuned-baseline.json").values()
    gspo, lie, paper = (ends_of("paper-scale.json", row) for row in ("gspo", "lie-demo", "lie-paper"))
    assert len(gspo) == len(lie) == len(paper) == 8, (len(gspo), len(lie), len(paper))
    parts = [text(14, 26, "GSPO with LIE returns to the search that the model was taught; GSPO alone does not", 14.5, weight="bold"),
             text(14, 48, "One task, made for this contrast; 0.4 M parameters; 512 held-out prompts. Eight seeds each after 60 steps;", 13,
                  color="#4b5563"),
             text(14, 66, f"lines join equal seeds. Small: {len(tuned)} runs of GSPO with 8 other settings after 300 steps.", 13, color="#4b5563"),
             *axes()]
    x = x_of(SEARCH)
    parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#6b7280" stroke-dasharray="4 4"/>')
    parts.append(text(x + 8, TOP + 14, "tokens of a full search", 12, color="#4b5563"))
    for (seed, _), (tokens, accuracy) in gspo.items():
        other_tokens, other = lie[seed, "lie-demo"]
        parts.append(f'<path d="M{x_of(tokens):.1f} {y_of(accuracy):.1f}L{x_of(other_tokens):.1f} {y_of(other):.1f}" '
                     f'stroke="{LIE}" stroke-opacity="0.2"/>')
    for shape, color, ends in (("small square", GSPO, tuned), ("square", GSPO, gspo.values()), ("triangle", PAPER, paper.values()),
                               ("circle", LIE, lie.values())):
        parts += [mark(x_of(tokens), y_of(accuracy), shape, color) for tokens, accuracy in ends]
    y = TOP + 22
    for shape, color, words, ends in (("circle", LIE, "GSPO with LIE as in the demo", lie), ("triangle", PAPER, "LIE's penalty of the paper's size", paper),
                                      ("square", GSPO, "GSPO", gspo)):
        mean = sum(accuracy for _, accuracy in ends.values()) / len(ends)
        parts += [mark(LEFT + 20, y - 5, shape, color), text(LEFT + 34, y, f"{words}: mean {mean:.3f}", 14, "start", color, "bold")]
        y += 22
    x, y = x_of(START[0]), y_of(START[1])
    parts.append(f'<path d="M{x:.1f} {y - 14:.1f}V{y - 50:.1f}" stroke="#111827"/>')
    parts.append(text(x, y - 56, "start of every run", 12, "middle"))
    return picture(WIDTH, HEIGHT, parts)


def differences(files, row, against):
    """Returns the difference of final accuracy for each seed that both rows have."""
    study = load_study(*(RESULTS / f"{file}.json" for file in files))
    return [mine.accuracy() - other.accuracy() for mine, other in study.pairs_of(row, against)]


def effects():
    """Returns the picture of all effects with runs of equal seeds in the repository: each pair, mean and interval."""
    left, right, low, high, y = 290, 130, -0.5, 0.5, 92

    def x_at(difference):
        return left + (WIDTH - left - right) * (min(max(difference, low), high) - low) / (high - low)

    parts = []
    for group, rows in EFFECTS:
        parts.append(text(14, y, group, 14, weight="bold"))
        for label, files, row, against in rows:
            y += 26
            pairs = differences(files, row, against)
            middle, least, most = mean_interval(pairs)
            color = LIE if least > 0 else GSPO if most < 0 else "#6b7280"
            parts.append(text(left - 12, y + 4, label, 13, "end"))
            parts.append(f'<path d="M{x_at(least):.1f} {y}H{x_at(most):.1f}" stroke="{color}" stroke-width="2"/>')
            parts += [f'<circle cx="{x_at(d):.1f}" cy="{y}" r="3" fill="{color}" fill-opacity="0.4"/>' for d in pairs]
            parts.append(f'<rect x="{x_at(middle) - 4:.1f}" y="{y - 4}" width="8" height="8" fill="{color}"/>')
            parts.append(text(WIDTH - right + 14, y + 4, f"{middle:+.3f}, {len(pairs)} seeds", 13, color=color))
        y += 40
    lines = []
    for tenths in range(-4, 5, 2):
        x = x_at(tenths / 10)
        lines.append(f'<path d="M{x:.1f} 76V{y - 20}" stroke="{"#9ca3af" if tenths == 0 else "#e5e7eb"}"/>')
        lines.append(text(x, y - 2, f"{tenths / 10:+.1f}" if tenths else "0", 13, "middle"))
    title = [text(14, 26, "Difference of final held-out accuracy, seed by seed", 14.5, weight="bold"),
             text(14, 48, "Dots: pairs of runs. Squares and lines: mean and Student's 95 % interval, cut at the border.", 13,
                  color="#4b5563")]
    return picture(WIDTH, y + 14, title + lines + parts)


def picture(width, height, parts, background="#ffffff"):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
            f'<rect width="{width}" height="{height}" fill="{background}"/>\n' + "\n".join(parts) + "\n</svg>\n")


def terminal(lines):
    """Returns the picture of a terminal."""
    height = 24 + 20 * len(lines)
    parts = []
    for number, line in enumerate(lines):
        color = "#93c5fd" if line.startswith("$") else "#9ca3af" if line.startswith("#") else "#e5e7eb"
        parts.append(f'<text x="14" y="{28 + 20 * number}" font-family="Menlo, Consolas, monospace" font-size="12.5" fill="{color}" '
                     f'xml:space="preserve">{escape(line)}</text>')
    return picture(800, height, parts, "#111827")


class Demo:
    """Runs of the demo's first steps in a folder."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder = Path(binaries).resolve(), Path(folder)

    def command(self, name, ranks):
        return ["mpirun", "-n", str(ranks), str(self.binaries / "lie_cluster"), "train", "configs/demo.yaml",
                "--set", "run.steps=4", "--set", f"run.directory={self.folder / name}"]

    def run(self, name, ranks):
        subprocess.run(self.command(name, ranks), cwd=ROOT, check=True, capture_output=True)

    def kill_after_step(self, name, ranks, step):
        """Kills the run by SIGKILL once `step` is complete, and waits for its end. Returns how it ended."""
        process = subprocess.Popen(self.command(name, ranks), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        metrics = self.folder / name / "metrics.jsonl"
        while not metrics.exists() or f'"step":{step},' not in metrics.read_text(encoding="utf-8").replace(" ", ""):
            assert process.poll() is None, "the run ended before it was killed"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        time.sleep(2)  # mpirun's ranks end when they notice that it is gone

    def digest(self, name):
        done = subprocess.run([self.binaries / "lie_analyze", "--digest", self.folder / name], check=True, capture_output=True,
                              text=True)
        return [line for line in done.stdout.splitlines() if line.strip()]


def digests(binaries):
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                      OMPI_MCA_rmaps_base_oversubscribe="1")
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(binaries, folder)
        demo.run("whole", 4)
        demo.kill_after_step("killed", 4, 3)
        demo.run("killed", 7)
        whole, killed = demo.digest("whole"), demo.digest("killed")
        assert whole == killed, (whole, killed)
    version = subprocess.run([Path(binaries) / "lie_cluster", "--version"], check=True, capture_output=True, text=True).stdout
    train = "lie_cluster train configs/demo.yaml --set run.steps=4 --set run.directory=runs"
    return terminal(["# 4 ranks, never stopped", f"$ mpirun -n 4 {train}/whole", "# 4 ranks, killed with kill -9 after step 3, resumed on 7 ranks",
                     f"$ mpirun -n 4 {train}/killed", f"$ mpirun -n 7 {train}/killed", "", "$ lie_analyze --digest runs/whole",
                     *whole, "$ lie_analyze --digest runs/killed", *killed, "", f"# {version.strip().splitlines()[0]}"])


def main():
    if sys.argv[1:2] == ["--kill"] and len(sys.argv) == 3:
        (IMAGES / "digests.svg").write_text(digests(sys.argv[2]), encoding="utf-8")
        return 0
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for name, draw in (("accuracy-and-length.svg", accuracy_and_length), ("effects.svg", effects)):
        file, drawn = IMAGES / name, draw()
        if "--check" not in sys.argv:
            file.write_text(drawn, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != drawn:
            print(f"{file.relative_to(ROOT)} is not what scripts/draw_pictures.py draws")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
