"""A page about a run: summary, warnings and charts in one HTML file, without scripts."""

from __future__ import annotations

import html
import os
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _library
from ._errors import FileError, UsageError

if TYPE_CHECKING:
    from ._result import Result

_COLOURS = ("#20639b", "#c23b22", "#3caea3", "#b8860b", "#7b4ea3", "#555555", "#8fa31e", "#d16ba5")
_POINTS = 500  # of a curve
_CHAINS = 8  # that are drawn
_STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse } th, td { padding: .15em .8em; text-align: right }
thead th { border-bottom: 1px solid #999 } tbody th { text-align: left; font-weight: normal }
.warning { border-left: 4px solid #c23b22; padding-left: .8em } svg { max-width: 100% }
.note { color: #666 }
"""


class _Chart:
    """Curves over an axis, as SVG."""

    width, height, left, bottom = 720, 220, 60, 30

    def __init__(self, x: tuple[float, float], y: tuple[float, float], labels: tuple[str, str]):
        self.x, self.labels = x, labels
        low, high = y
        self.y = (low - 0.5, high + 0.5) if high == low else (low, high)
        self.parts: list[str] = []

    def place(self, x: Any, y: Any) -> tuple[Any, Any]:
        wide, high = self.width - self.left - 10, self.height - self.bottom - 10
        at = (np.asarray(x, float) - self.x[0]) / ((self.x[1] - self.x[0]) or 1)
        up = (np.asarray(y, float) - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + wide * at, 10 + high * (1 - up)

    def curve(self, x: Any, y: Any, colour: str) -> None:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*self.place(x, y)))
        self.parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1"/>')

    def bars(self, edges: Any, heights: Any) -> None:
        x0, y0 = self.place(edges[:-1], heights)
        x1, base = self.place(edges[1:], np.full(len(heights), self.y[0]))
        for a, b, top, low in zip(x0, x1, y0, base):
            self.parts.append(
                f'<rect x="{a:.1f}" y="{top:.1f}" width="{max(b - a - 1, 0.5):.1f}"'
                f' height="{low - top:.1f}" fill="{_COLOURS[0]}"/>'
            )

    def svg(self, title: str) -> str:
        w, h, left, bottom = self.width, self.height, self.left, self.height - self.bottom
        text = 'font-size="12" fill="#444"'
        axes = (
            f'<path d="M{left} 10V{bottom}H{w - 10}" fill="none" stroke="#999"/>'
            f'<text x="{left - 6}" y="18" text-anchor="end" {text}>{self.y[1]:.4g}</text>'
            f'<text x="{left - 6}" y="{bottom}" text-anchor="end" {text}>{self.y[0]:.4g}</text>'
            f'<text x="{left}" y="{h - 12}" {text}>{self.x[0]:.4g}</text>'
            f'<text x="{w - 10}" y="{h - 12}" text-anchor="end" {text}>{self.x[1]:.4g}</text>'
            f'<text x="{(w + left) / 2}" y="{h - 12}" text-anchor="middle" {text}>{html.escape(self.labels[0])}</text>'
        )
        return (
            f'<svg viewBox="0 0 {w} {h}" role="img" aria-label="{html.escape(title)}">'
            f"<title>{html.escape(title)}</title>{axes}{''.join(self.parts)}</svg>"
        )


def _finite(values: Any) -> Any:
    flat = np.asarray(values, float).reshape(-1)
    return flat[np.isfinite(flat)]


def _traces(r: Result) -> str:
    """log p of some chains over the draws."""
    logp = r.logp
    shown, every = min(_CHAINS, len(logp)), max(1, -(-logp.shape[1] // _POINTS))
    thinned = logp[:shown, ::every]
    numbers = _finite(thinned)
    if numbers.size == 0:
        return ""
    chart = _Chart((0, logp.shape[1]), (numbers.min(), numbers.max()), ("draw", "log p"))
    for k, row in enumerate(thinned):
        good = np.isfinite(row)
        chart.curve(np.arange(len(row))[good] * every, row[good], _COLOURS[k % len(_COLOURS)])
    which = f" of {shown} of {len(logp)} chains" if shown < len(logp) else ""
    return f"<h2>log p{which}</h2>{chart.svg('log p over the draws, a colour for each chain')}"


def _histogram(values: Any, title: str, label: str) -> str:
    numbers = _finite(values)
    if numbers.size < 2:
        return ""
    heights, edges = np.histogram(numbers, bins=min(40, max(5, int(numbers.size**0.5))))
    chart = _Chart((float(edges[0]), float(edges[-1])), (0, float(heights.max())), (label, "count"))
    chart.bars(edges, heights)
    return f"<h2>{html.escape(title)}</h2>{chart.svg(title)}"


def _facts(r: Result) -> Sequence[tuple[str, str]]:
    s = r.stats
    parameters = ", ".join(f"{k} = {v}" for k, v in r.parameters.items())
    return (
        ("model", f"{s['model']}, {s['dim']:,} coordinates"),
        ("sampler", s["sampler"] + (f": {parameters}" if parameters else "")),
        ("draws", f"{s['chains']} chains x {s['draws']:,}, after {s['warmup']:,} steps of warm-up"),
        ("acceptance", f"{s['acceptance_rate'] or 0:.4f}"),
        ("seed", str(r.seed)),
        ("verdict", r.verdict + ("" if r.complete else "; the run is not complete")),
    )


def page(r: Result, title: str | None) -> str:
    name = html.escape(title or f"{r.stats['model']} by {r.sampler}")
    facts = "".join(
        f"<tr><th>{html.escape(k)}</th><td style='text-align:left'>{html.escape(v)}</td></tr>"
        for k, v in _facts(r)
    )
    warnings = "".join(f"<p class=warning>{html.escape(w)}</p>" for w in r.warnings)
    table, rows = r._table()
    note = ""
    if len(rows) < len(table):
        note = f"<p class=note>The {len(rows)} of {len(table):,} rows with the smallest effective sample size.</p>"
    charts = ""
    if r._levels is not None and r._levels.shape[1] > 0:
        charts += _traces(r)
    charts += _histogram(r.ess, "Effective sample sizes of the coordinates", "ESS")
    if not r.domain.unordered:
        charts += _histogram(r.mean, "Means of the coordinates", "mean")
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{name}</title>"
        f"<style>{_STYLE}</style></head><body><h1>{name}</h1><table><tbody>{facts}</tbody></table>"
        f"{warnings}<h2>Summary</h2>{note}{table.html(rows)}{charts}"
        f"<p class=note>saltus {html.escape(_library.version())}</p></body></html>\n"
    )


def write_report(r: Result, path: str, title: str | None) -> None:
    if not path.endswith((".html", ".htm")):
        raise UsageError(f"{path}: a report is written as FILE.html")
    text = page(r, title)
    partial = f"{path}.partial"
    try:
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(partial, path)
    except OSError as e:
        raise FileError(f"cannot write {path}: {e.strerror}") from None
