"""What services other than drawing find."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._domain import Array, Domain
from ._errors import SaltusWarning
from ._table import Table, table_or_frame


class Answer:
    """What a service found: the program's JSON as `stats`, of which attributes are parts."""

    def __init__(self, stats: dict[str, Any]):
        self.stats = stats

    @property
    def warnings(self) -> list[str]:
        return [str(w["sentence"]) for w in self.stats.get("warnings", [])]

    def _warn(self) -> None:
        for sentence in self.warnings:
            warnings.warn(sentence, SaltusWarning, stacklevel=4)


class Verification(Answer):
    """`ok`, and `checks`: a list of dicts with check, verdict and detail."""

    @property
    def ok(self) -> bool:
        return bool(self.stats["ok"])

    @property
    def checks(self) -> list[dict[str, str]]:
        return list(self.stats["checks"])

    @property
    def kernel_checked(self) -> bool:
        """Against its exact transition matrix, which only small models have."""
        return bool(self.stats["kernel_checked"])

    def raise_if_wrong(self) -> None:
        wrong = [f"{c['check']}: {c['detail']}" for c in self.checks if c["verdict"] == "FAILED"]
        if wrong:
            raise AssertionError("; ".join(wrong))

    def __repr__(self) -> str:
        lines = [f"{c['check']:<14} {c['verdict']:<8} {c['detail']}" for c in self.checks]
        return "\n".join([f"{self.stats['sampler']} on {self.stats['model']}", *lines])


class LogZ(Answer):
    """Between `low` and `high` log Z probably lies; `log_z` is the estimate."""

    @property
    def log_z(self) -> float:
        return float(self.stats["log_z"])

    @property
    def low(self) -> float:
        return _number(self.stats["interval"][0], -np.inf)

    @property
    def high(self) -> float:
        return _number(self.stats["interval"][1], np.inf)

    @property
    def forward(self) -> dict[str, Any] | None:
        return self.stats.get("forward")

    @property
    def reverse(self) -> dict[str, Any] | None:
        return self.stats.get("reverse")

    @property
    def exact(self) -> float | None:
        """Where the model is small."""
        answer = self.stats["exact"]
        return None if answer is None else float(answer)

    @property
    def log_likelihood(self) -> tuple[float, float] | None:
        """Of the data, between two numbers; None where none were given."""
        test = self.stats["test"]
        if test is None:
            return None
        low, high = test["log_likelihood"]
        return _number(low, -np.inf), _number(high, np.inf)

    def __repr__(self) -> str:
        return f"log Z of {self.stats['model']} between {self.low:.5f} and {self.high:.5f}"


def _number(value: float | None, instead: float) -> float:
    return instead if value is None else float(value)


class Comparison(Answer):
    """`table`, with a row for each sampler, `best` and `sentence`."""

    @property
    def best(self) -> str | None:
        """The name of the winner; None where the chains of no exact sampler have mixed."""
        best = self.stats["best"]
        return None if best is None else str(best["sampler"])

    @property
    def sentence(self) -> str:
        return str(self.stats["sentence"])

    @property
    def table(self) -> Any:
        names = [
            "acceptance_rate", "changes", "steps_per_second", "ess_per_second",
            "ess_per_evaluation", "rhat", "error",
        ]  # fmt: skip
        rows = self.stats["results"]
        columns = {
            n: np.array([np.inf if r[n] == "inf" else _number(r[n], np.nan) for r in rows])
            for n in names
        }
        index = [r["sampler"] + (" tempered" if r["tempered"] else "") for r in rows]
        return table_or_frame(index, columns)

    def __repr__(self) -> str:
        table = self.table
        if not isinstance(table, Table):  # of pandas, which leaves columns out
            table = Table(list(table.index), {n: np.asarray(table[n], float) for n in table})
        return f"{table.text()}\n\n{self.sentence}"


class Search(Answer):
    """The `best` state of a search, as values, its `logp` and how many restarts reached it."""

    def __init__(self, stats: dict[str, Any], domain: Domain):
        super().__init__(stats)
        best = stats["best"]
        self.complete = bool(stats["complete"])
        self.best: Array | None = None
        self.logp = np.nan
        if best is not None:
            levels = np.asarray(best["state"], dtype=np.uint16).reshape(domain.shape)
            self.best, self.logp = domain.to_values(levels), float(best["logp"])

    @property
    def reached(self) -> int:
        return int(self.stats["reached"])

    @property
    def objective(self) -> float | None:
        """The best value in the terms of a problem file; None for other models."""
        objective = self.stats["objective"]
        return None if objective is None else float(objective["best"])

    def __repr__(self) -> str:
        return f"best log p {self.logp:.10g}, reached by {self.reached} of {self.stats['restarts']}"


class Certificate(Answer):
    """`certified`: every pair of chains has met. `warmup`: the step from which on the distance to
    the model is below 0.01; None where that is not known."""

    @property
    def certified(self) -> bool:
        return bool(self.stats["certified"])

    @property
    def warmup(self) -> int | None:
        step = self.stats["recommended_warmup"]
        return None if step is None else int(step)

    @property
    def curve(self) -> list[dict[str, Any]]:
        """The bound after a number of steps: dicts with step, bound, standard_error and
        exact_distance."""
        return list(self.stats["bound"])

    def __repr__(self) -> str:
        s = self.stats
        if not self.certified:
            return f"{s['unmet']} of {s['pairs']} pairs had not met after {s['max_steps']} steps: no bound"
        steps = "not known" if self.warmup is None else f"{self.warmup} steps"
        return f"{s['sampler']} on {s['model']}: all {s['pairs']} pairs met; recommended warm-up {steps}"
