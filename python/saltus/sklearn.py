"""Estimators that learn a model from data, in the form of scikit-learn.

    from saltus.sklearn import RBM
    rbm = RBM(n_components=100, n_iter=10, random_state=0).fit(X)
    rbm.transform(X), rbm.components_, rbm.log_likelihood(X), rbm.sample(1000, seed=1)

They are scikit-learn's estimators where it is installed, and work without it.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _built_in, _learning, _services
from ._domain import Array
from ._errors import DataError, UsageError
from ._models import Model
from ._requests import seed_of
from ._sample import sample
from ._samplers import SamplerLike, options_of

Floats = npt.NDArray[np.float64]

if TYPE_CHECKING:

    class Estimator:
        verbose: int
        random_state: Any

    class Transformer: ...

else:
    try:
        from sklearn.base import BaseEstimator as Estimator
        from sklearn.base import TransformerMixin as Transformer
    except ImportError:

        class Estimator:
            """What scikit-learn's BaseEstimator does, as far as these estimators need it."""

            @classmethod
            def _get_param_names(cls):
                return [n for n in inspect.signature(cls.__init__).parameters if n != "self"]

            def get_params(self, deep=True):
                return {name: getattr(self, name) for name in self._get_param_names()}

            def set_params(self, **params):
                for name, value in params.items():
                    if name not in self._get_param_names():
                        raise UsageError(f"{type(self).__name__} has no parameter {name!r}")
                    setattr(self, name, value)
                return self

        class Transformer:
            def fit_transform(self, X, y=None, **fit_params):
                return self.fit(X, y, **fit_params).transform(X)


def _seed(random_state: Any) -> int:
    """None, a number, or a generator of NumPy, the older one as well."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return seed_of(random_state)


def _sigmoid(v: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(v, -700, 700))))


class _Learner(Estimator):
    """What both estimators share. Subclasses say how their parameters are options."""

    _low = 0.0  # the lower of the two values of the data
    model_: Model
    history_: dict[str, list[Any]]
    n_features_in_: int
    n_iter_: int

    def _options(self) -> dict[str, Any]:
        raise NotImplementedError

    def _take(self, parameters: Floats, dim: int) -> None:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learns from rows of data, from the beginning."""
        if hasattr(self, "_learned"):
            del self._learned
        return self._learn(X, {"seed": str(_seed(self.random_state))}, None)

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Goes on with these data, for one time through them."""
        learned = getattr(self, "_learned", None)
        if learned is None:
            return self._learn(X, {"seed": str(_seed(self.random_state)), "epochs": 1, "iterations": None}, None)
        seed = {"seed": str(learned.stats["seed"]), "epochs": 1, "iterations": None}
        return self._learn(X, seed, learned)

    def _learn(self, X: Any, more: dict[str, Any], before: _learning.Learned | None) -> Any:
        data = _learning.bits_of(X, "X", self._low)
        if before is not None and data.shape[1] != self.n_features_in_:
            raise DataError(f"X has {data.shape[1]} columns; {self.n_features_in_} were learned from")
        state = None if before is None else before.state
        progress = None if self.verbose else False
        learned = _learning.learn(data, {**self._options(), **more}, state, progress)
        self._learned = learned
        self.n_features_in_ = data.shape[1]
        self.n_iter_ = learned.stats["iterations"]
        history = learned.stats["history"]
        if before is not None:
            history = {key: before.stats["history"][key] + history[key] for key in history}
            learned.stats["history"] = history
        self.history_ = history
        self._take(learned.parameters.astype(np.float64), data.shape[1])
        return self

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            try:
                from sklearn.exceptions import NotFittedError
            except ImportError:
                raise UsageError(f"this {type(self).__name__} has not learned yet: fit it first") from None
            raise NotFittedError(f"this {type(self).__name__} has not learned yet: fit it first")

    def _rows(self, X: Any, what: str = "X") -> Floats:
        """Data as values of the model."""
        self._check_fitted()
        bits = _learning.bits_of(X, what, self._low)
        if bits.shape[1] != self.n_features_in_:
            raise DataError(f"{what} has {bits.shape[1]} columns; {self.n_features_in_} were learned from")
        return np.where(bits == 1, 1.0, self._low)

    # ---- what was learned ----

    def log_likelihood(self, X: Any, **options: Any) -> tuple[float, float]:
        """Mean log p of the rows, between two numbers, by annealing in both directions. Options are
        those of saltus.logz."""
        rows = self._rows(X)
        options.setdefault("seed", _seed(self.random_state))
        found = _services.logz(self.model_, data=rows, **options).log_likelihood
        assert found is not None
        return found

    def score_samples(self, X: Any) -> Floats:
        """log p of each row, less the estimate of log Z (computed once; `log_z_`)."""
        rows = self._rows(X)
        return np.asarray(self.model_.logp(rows)) - self.log_z_

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of score_samples."""
        return float(self.score_samples(X).mean())

    @property
    def log_z_(self) -> float:
        """log Z: exact where the model is small, otherwise estimated by annealing."""
        self._check_fitted()
        known: tuple[Model, float] | None = getattr(self, "_log_z", None)
        if known is None or known[0] is not self.model_:
            z = _services.logz(self.model_, seed=_seed(self.random_state))
            self._log_z = known = (self.model_, z.log_z if z.exact is None else z.exact)
        return known[1]

    def sample(self, n: int = 1, *, seed: Any = None, sampler: SamplerLike | None = None,
               warmup: int = 1000) -> Array:  # fmt: skip
        """n states: the last ones of n chains, or of 100 chains as many as it takes."""
        self._check_fitted()
        chains = min(n, 100)
        draws = -(-n // chains)
        import warnings

        with warnings.catch_warnings():  # one draw of each chain says nothing of mixing
            warnings.simplefilter("ignore")
            r = sample(
                self.model_, sampler=sampler or self._drawing(), chains=chains, warmup=warmup,
                draws=draws, thin=10, seed=seed, probe=False, exact=False, progress=False,
            )  # fmt: skip
        return np.asarray(r.draws.transpose(1, 0, 2).reshape(-1, self.n_features_in_)[:n])

    def _drawing(self) -> SamplerLike:
        return "gibbs"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


class RBM(_Learner, Transformer):
    """A restricted Boltzmann machine: p(x) in proportion to exp(sum softplus(W x + c) + b'x).

    method: "cd", chains start at the data, or "pcd", `chains` persistent ones. steps: of the
    sampler in an iteration. sampler: block_gibbs, or one such as saltus.DMALA(step_size=0.15). X
    has rows of 0 and 1, dense or sparse. The optimiser is Adam. After `fit`: components_ (hidden x
    visible), intercept_hidden_, intercept_visible_, model_ (a saltus model) and history_.
    """

    components_: Floats

    def __init__(
        self,
        n_components: int = 256,
        *,
        learning_rate: float = 1e-3,
        batch_size: int = 100,
        n_iter: int = 10,
        method: Literal["cd", "pcd"] = "cd",
        steps: int = 10,
        chains: int = 100,
        sampler: SamplerLike = "block_gibbs",
        l1: float = 0.0,
        verbose: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.method = method
        self.steps = steps
        self.chains = chains
        self.sampler = sampler
        self.l1 = l1
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _options(self) -> dict[str, Any]:
        return {
            "kind": "rbm", "hidden": self.n_components, **options_of(self.sampler),
            "chains": _persistent(self.method, self.chains), "steps": self.steps,
            "batch": self.batch_size, "lr": self.learning_rate, "l1": self.l1, "epochs": self.n_iter,
            "threads": _threads(self.n_jobs),
        }  # fmt: skip

    def _take(self, parameters: Floats, dim: int) -> None:
        weights = self.n_components * dim
        self.components_ = parameters[:weights].reshape(self.n_components, dim)
        self.intercept_visible_ = parameters[weights : weights + dim]
        self.intercept_hidden_ = parameters[weights + dim :]
        self.model_ = _built_in.rbm(
            self.components_, visible_bias=self.intercept_visible_, hidden_bias=self.intercept_hidden_
        )

    def transform(self, X: Any) -> Floats:
        """Probabilities of the hidden units, given the rows."""
        return _sigmoid(self._rows(X) @ self.components_.T + self.intercept_hidden_)

    def gibbs(self, V: Any, *, seed: Any = None) -> Array:
        """One step of block Gibbs from each row: hidden units, then visible ones."""
        rows = self._rows(V, "V")
        random = np.random.default_rng(_seed(self.random_state if seed is None else seed))
        hidden = random.random((len(rows), self.n_components)) < self.transform(rows)
        visible = _sigmoid(hidden @ self.components_ + self.intercept_visible_)
        return np.asarray(random.random(visible.shape) < visible, np.int8)

    def pseudo_likelihood(self, X: Any) -> Floats:
        """log pseudo-likelihood of each row: the sum over all units of log p(unit | the others)."""
        rows = self._rows(X)
        logp = np.asarray(self.model_.logp(rows))
        total = np.zeros(len(rows))
        for i in range(rows.shape[1]):
            other = rows.copy()
            other[:, i] = 1 - other[:, i]
            total -= np.logaddexp(0, np.asarray(self.model_.logp(other)) - logp)
        return total

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        return np.array([f"rbm{k}" for k in range(self.n_components)], dtype=object)

    def _drawing(self) -> SamplerLike:
        return "block_gibbs"


class Ising(_Learner):
    """An Ising model with couplings between all spins: p(s) in proportion to
    exp(sum over pairs J_ij s_i s_j + sum h_i s_i), as in saltus.ising.

    X has rows of -1 and +1. method: "pcd" with `chains` persistent chains, or "cd". l1: penalty of
    the sum of |G|, J = 2 G. After `fit`: couplings_ (symmetric, diagonal 0), fields_, model_ and
    history_.
    """

    _low = -1.0
    couplings_: Floats

    def __init__(
        self,
        *,
        method: Literal["pcd", "cd"] = "pcd",
        chains: int = 256,
        steps: int = 100,
        fields: bool = True,
        l1: float = 0.0,
        learning_rate: float = 1e-3,
        batch_size: int = 256,
        n_iter: int = 1000,
        sampler: SamplerLike = "dmala",
        verbose: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.method = method
        self.chains = chains
        self.steps = steps
        self.fields = fields
        self.l1 = l1
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.sampler = sampler
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _options(self) -> dict[str, Any]:
        sampler = options_of(self.sampler)
        if sampler == {"sampler": "dmala"}:
            sampler["set"] = {"step_size": 0.15}
        return {
            "kind": "ising", "fields": self.fields, **sampler,
            "chains": _persistent(self.method, self.chains), "steps": self.steps,
            "batch": self.batch_size, "lr": self.learning_rate, "l1": self.l1,
            "iterations": self.n_iter, "threads": _threads(self.n_jobs),
        }  # fmt: skip

    def _take(self, parameters: Floats, dim: int) -> None:
        G = parameters[: dim * dim].reshape(dim, dim)
        self.couplings_ = G + G.T
        np.fill_diagonal(self.couplings_, 0)
        self.fields_ = parameters[dim * dim :] if self.fields else np.zeros(dim)
        self.model_ = _built_in.ising(self.couplings_, self.fields_)


def _threads(n_jobs: int | None) -> int | None:
    """None, and -1 as elsewhere in scikit-learn: all cores."""
    return None if n_jobs is None or n_jobs < 0 else n_jobs


def _persistent(method: str, chains: int) -> int:
    if method not in ("cd", "pcd"):
        raise UsageError(f"method is {method!r}; expected cd or pcd")
    return chains if method == "pcd" else 0
