"""A table of numbers, for people who have no pandas."""

from __future__ import annotations

import html
import math
from typing import Any, Iterator, Sequence

import numpy as np
import numpy.typing as npt


def _text(v: float) -> str:
    if math.isnan(v):
        return "-"
    if abs(v) >= 1000 and v == v // 1 or abs(v) >= 1e5:
        return f"{v:,.0f}"
    return f"{v:.5g}"


class Table:
    """Columns by name, rows by label: table["mean"], table.loc["x[3]"], len(table)."""

    def __init__(self, index: Sequence[str], columns: dict[str, npt.NDArray[np.float64]]):
        self.index = list(index)
        self.columns = columns

    def __getitem__(self, column: str) -> npt.NDArray[np.float64]:
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    @property
    def loc(self) -> dict[str, dict[str, float]]:
        return {
            name: {column: float(values[k]) for column, values in self.columns.items()}
            for k, name in enumerate(self.index)
        }

    def lines(self, rows: Sequence[int] | None = None) -> list[list[str]]:
        rows = range(len(self)) if rows is None else rows
        head = ["", *self.columns]
        return [head] + [
            [self.index[k], *(_text(float(v[k])) for v in self.columns.values())] for k in rows
        ]

    def text(self, rows: Sequence[int] | None = None) -> str:
        lines = self.lines(rows)
        widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
        return "\n".join(
            line[0].ljust(widths[0]) + "".join(f"  {cell:>{w}}" for cell, w in zip(line[1:], widths[1:]))
            for line in lines
        )

    def html(self, rows: Sequence[int] | None = None) -> str:
        lines = self.lines(rows)
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in lines[0])
        body = "".join(
            "<tr><th>" + html.escape(line[0]) + "</th>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in line[1:]) + "</tr>"
            for line in lines[1:]
        )  # fmt: skip
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()


def table_or_frame(index: Sequence[str], columns: dict[str, npt.NDArray[np.float64]]) -> Any:
    """A DataFrame where pandas is installed, otherwise a Table."""
    try:
        import pandas
    except ImportError:
        return Table(index, columns)
    return pandas.DataFrame(columns, index=list(index))
