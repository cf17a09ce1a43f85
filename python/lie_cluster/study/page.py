"""A study as one self-contained HTML file: tables, every seed as a dot, and curves over the steps."""
import html
import math

from .report import HEADS, row_cells
from .results import ACCURACY

_COLORS = ("#4269d0", "#efb118", "#ff725c", "#3ca951", "#6cc5b0", "#a463f2", "#97bbf5", "#9c6b4e")
_CURVES = {ACCURACY: "Accuracy", "eval_response_length_mean": "Response length, tokens", "eval_c_context_mean": "C_context"}
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 440, 236, 48, 208  # size of a chart, and the corner of its axes
_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:1400px;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;font-size:13px}td,th{padding:3px 8px;border-bottom:1px solid #8884;text-align:left}
figure{display:inline-block;margin:1em 1em 0 0}svg text{font-size:11px;fill:currentColor}i{display:inline-block;width:10px;
height:10px;border-radius:5px;margin-right:6px}:root{color-scheme:light dark}.axis{stroke:#8888;fill:none}"""
_LEAD = ("Final held-out accuracy of every row: mean over the seeds with Student's 95 % interval, least to most. The "
         "difference is to the row named next to it, seed by seed, with the interval of this one comparison; p is adjusted "
         "for all comparisons of the study by Holm's method. Other columns are means at the end of training.")


def _span(study):
    """Returns the accuracies that all pictures span, in whole twentieths."""
    values = [value for result in study.with_runs() for value in result.accuracies().values()]
    return min((math.floor(v * 20) / 20 for v in values), default=0.0), max((math.floor(v * 20 + 1) / 20 for v in values),
                                                                           default=1.0)


def _picture(result, span, color):
    """Shows the seeds as dots, and their mean as a bar within its interval."""
    low, high = span

    def place(value):
        return f"{200 * (min(max(value, low), high) - low) / (high - low):.1f}"
    mean = result.final_mean(ACCURACY)
    band = float(place(mean.high)) - float(place(mean.low))
    dots = "".join(f'<circle fill="{color}" cx="{place(value)}" cy="11" r="2.5"><title>seed {seed}: {value:.3f}</title>'
                   "</circle>" for seed, value in result.accuracies().items())
    return (f'<svg viewBox="-6 0 212 22" style="width:212px"><path class="axis" d="M0 11H200"/><rect fill="{color}" '
            f'opacity=".25" x="{place(mean.low)}" y="5" width="{band:.1f}" height="12"/>'
            f'<path stroke="{color}" stroke-width="2" d="M{place(mean.value)} 3V19"/>{dots}</svg>')


def _swatch(color):
    return f'<i style="background:{color}"></i>'


def _table(study, rows, span, colors):
    heads = HEADS + [f"each seed, {span[0]:.2f} to {span[1]:.2f}"]
    lines = "".join(f"<th>{html.escape(head)}</th>" for head in heads)
    for result in rows:
        color = colors[result.row.name]
        cells = [html.escape(cell) for cell in row_cells(study, result)]
        cells = [_swatch(color) + cells[0], *cells[1:], _picture(result, span, color)]
        lines += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells)
    return f"<table>{lines}</table>"


def _chart(title, curves):
    """Shows curves by color: [(color, {step: estimate})]."""
    curves = [(color, curve) for color, curve in curves if curve]
    if not curves:
        return ""
    steps = [step for _, curve in curves for step in curve]
    values = [value for _, curve in curves for estimate in curve.values() for value in (estimate.low, estimate.high)]
    low, high = min(values), max(values) if max(values) > min(values) else min(values) + 1
    first, last = min(steps), max(max(steps), min(steps) + 1)

    def at(step, value):
        x = _LEFT + (_WIDTH - _LEFT - 12) * (step - first) / (last - first)
        return f"{x:.1f},{_BOTTOM - (_BOTTOM - 10) * (value - low) / (high - low):.1f}"
    drawn = ""
    for color, curve in curves:
        band = [at(step, e.low) for step, e in curve.items()] + [at(step, e.high) for step, e in reversed(curve.items())]
        line = " ".join(at(step, e.value) for step, e in curve.items())
        drawn += (f'<polygon fill="{color}" opacity=".15" points="{" ".join(band)}"/>'
                  f'<polyline fill="none" stroke="{color}" stroke-width="1.5" points="{line}"/>')
    return (f'<figure><figcaption><b>{title}</b> held-out, mean of the seeds, 95 % interval</figcaption>'
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" style="width:{_WIDTH}px"><path class="axis" d="M{_LEFT} 10V{_BOTTOM}'
            f'H{_WIDTH - 12}"/>{drawn}<text x="{_LEFT - 4}" y="{_BOTTOM}" text-anchor="end">{low:.3g}</text>'
            f'<text x="{_LEFT - 4}" y="18" text-anchor="end">{high:.3g}</text><text x="{_LEFT}" y="224">{first}</text>'
            f'<text x="{_WIDTH - 12}" y="224" text-anchor="end">step {last}</text></svg></figure>')


def study_page(study):
    span = _span(study)
    colors = {result.row.name: _COLORS[i % len(_COLORS)] for i, result in enumerate(study.with_runs())}
    body = ""
    for title, rows in study.tables().items():
        charts = (_chart(name, [(colors[r.row.name], r.curve(metric)) for r in rows]) for metric, name in _CURVES.items())
        body += f"<h2>{html.escape(title)}</h2>{_table(study, rows, span, colors)}{''.join(charts)}\n"
    if study.notes:
        body += f"<h2>Left out</h2><ul>{''.join(f'<li>{html.escape(note)}</li>' for note in study.notes)}</ul>"
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>LIE Cluster study</title><style>{_STYLE}</style>'
            f"<h1>LIE Cluster study</h1><p>{_LEAD}</p>{body}</html>\n")
