"""Linear models that expect the worst of their data, behind scikit-learn's contract.

An estimator is a `Conversion` with a table attached. What it calls "auto" is the recipe: features scaled robustly from
the first rows, carried feedback asked for at the very point that is reported, rows judged by what the loss leaves open
(residuals where it grows without bound, leverage everywhere). Anything else is a part you chose.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from surefoot import anchors, losses, pilot
from surefoot.conversion import Conversion, interpolation
from surefoot.estimates import Carried, Fresh
from surefoot.feedback import Clip, Raw, Truncate
from surefoot.kernels import DenseRows, Setting, SparseRows, advance
from surefoot.learners import MirrorDescent
from surefoot.parts import Array
from surefoot.sparse_columns import merged
from surefoot.state import State
from surefoot.step_sizes import Constant, Decaying
from surefoot.thresholds import ConstantThreshold, LeastRisk, Lines
from surefoot.weights import Polynomial, Uniform

REGRESSION = {
    "squared_error": losses.SquaredError(),
    "huber": losses.Huber(),
    "pinball": losses.Pinball(),
    "poisson": losses.Poisson(),
}
CLASSIFICATION = {
    "log_loss": losses.LogLoss(),
    "squared_hinge": losses.SquaredHinge(),
    "modified_huber": losses.ModifiedHuber(),
}
HUBER_WIDTH = 1.345 / 0.6745  # in median sizes of the residuals: 95% efficiency under Gaussian noise
PINBALL_SMOOTHING = 0.5  # in median sizes of the residuals
LONGEST = 0.03  # how far one step may move the typical prediction, where an exponential can run away


def _real(value: object) -> bool:
    return isinstance(value, Real)


@dataclass(frozen=True)
class _Run:
    """A fit under way: the parts resolved for this table, and the state."""

    conversion: Conversion
    loss: Any
    setting: Setting
    scaling: pilot.Scaling
    scale: float
    state: State
    spent: int


class _Learned(NamedTuple):
    """What the first rows say: the loss and the recipe's numbers.

    point: a first fit, if there is one. lines, scale: of its residuals. bend: of the loss. typical: the typical
    curvature of a row. curvature: that of the mean over a batch. stands: whether the point stands for the rows it was
    found on. kinked: whether feedback cannot be carried. usual: the mean bend of a loss without one curvature, or 0.
    """

    loss: Any
    width: int
    point: Array
    lines: Lines | None
    scale: float
    bend: float
    typical: float
    leverage: float
    curvature: float
    distinct: int
    stands: bool
    kinked: bool
    usual: float


class _SurefootModel(BaseEstimator):
    """What the classifier and the regressor share: the fit, in passes or in pieces."""

    _regresses: bool
    _losses: dict[str, Any]
    _run: _Run
    _waiting: Any
    clipped_fraction_: float
    coef_: Array
    intercept_: Any

    def __init__(
        self, loss: Any, *, learner: Any, feedback: Any, weights: Any, query: Any, estimate: Any, penalty: float,
        feature_scale: Any, pilot: Any, fit_intercept: bool, batch_size: int, max_iter: int, tol: float | None,
        n_iter_no_change: int, early_stopping: bool, validation_fraction: float, shuffle: bool, warm_start: bool,
        random_state: Any, verbose: int,
    ) -> None:  # fmt: skip
        self.loss = loss
        self.learner = learner
        self.feedback = feedback
        self.weights = weights
        self.query = query
        self.estimate = estimate
        self.penalty = penalty
        self.feature_scale = feature_scale
        self.pilot = pilot
        self.fit_intercept = fit_intercept
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # The fit.

    def _fit(self, X: Any, y: Array, weight: Array, coef_init: Any, intercept_init: Any) -> None:
        random = check_random_state(self.random_state)
        keep = np.flatnonzero(weight > 0)
        train, held_out = self._split(keep, y, random)
        resume = self.warm_start and hasattr(self, "_run") and self._run.state.h.shape == self._shape(X)
        self.history_: list[dict[str, float]] = []
        best, best_state, waited, epoch = inf, None, 0, 0
        for epoch in range(1, self.max_iter + 1):
            order = random.permutation(train) if self.shuffle else train
            spent = 0
            if epoch == 1 and not resume:
                self._run = self._begin(X, y, weight, order, X, float(weight.sum()), coef_init, intercept_init)
                spent = self._run.spent
            score = self._stream(X, y, weight, order, spent)
            if self.early_stopping:
                score = self._loss_on(X, y, weight, held_out)
            if self.verbose:
                print(f"epoch {epoch}: loss {score:.6g}, clipped {self.clipped_fraction_:.2%}")
            if self.tol is None:
                continue
            waited = 0 if score < best - self.tol * abs(best if best < inf else 1.0) else waited + 1
            if score < best:
                best, best_state = score, self._run.state
            if waited >= self.n_iter_no_change:
                break
        else:
            if self.tol is not None and self.max_iter > self.n_iter_no_change:
                warnings.warn(
                    f"the loss was still falling after max_iter={self.max_iter} passes; raise max_iter or tol",
                    ConvergenceWarning, stacklevel=3,
                )  # fmt: skip
        if self.early_stopping and best_state is not None:
            self._run = replace(self._run, state=best_state)
        self.n_iter_ = epoch
        self._publish()

    def _split(self, keep: Any, y: Array, random: Any) -> tuple[Any, Any]:
        """Return the rows to learn from, and those held out."""
        if not self.early_stopping:
            return keep, keep[:0]
        count = max(1, int(self.validation_fraction * len(keep)))
        if count >= len(keep):
            raise ValueError(f"validation_fraction: nothing is left to learn from, of {len(keep)} samples")
        chosen = random.permutation(len(keep))
        return keep[np.sort(chosen[count:])], keep[chosen[:count]]

    def _begin(
        self, X: Any, y: Array, weight: Array, order: Any, table: Any, distinct: float, coef: Any, intercept: Any
    ) -> _Run:
        """Resolve every "auto" from the first rows of `order`, and take the state before the first round."""
        first = rows = order[: pilot.rows_wanted(X.shape[1])]
        if table is not None and self.feature_scale == "auto":
            rows = np.concatenate([first, pilot.rare_rows(table, first)])
        scaling = pilot.identity(X.shape[1])
        if self.feature_scale == "auto":
            scaling = pilot.scaling(X[rows], table)
        P = pilot.packed(X[rows], scaling, self.fit_intercept)
        learned = self._look(P, y[rows], weight[rows], distinct)
        h = np.zeros(self._shape(X))
        h[: len(learned.point)] = learned.point
        if self.pilot == 0:
            h = self._initial(h, scaling, coef, intercept)
        conversion = self._conversion(learned, lambda rule: self._anchor(rule, X, y, weight, order, h, scaling))
        bound = losses.derivative_bound(learned.loss)
        setting = Setting(
            batch=int(self.batch_size), query=interpolation(self.query),
            by_batch=conversion.feedback.per == "batch", two_points=bool(conversion.estimate.two_points),
            judged=bound < inf, bound=bound if bound < inf else 0.0, curvature=learned.bend, typical=learned.typical,
            dimension=float(getattr(conversion.estimate, "dimension", None) or h.size), penalty=float(self.penalty),
            free=int(self.fit_intercept), anchored=conversion.feedback.anchor is not None,
            strict=isinstance(conversion.feedback, Raw),
            learns=hasattr(getattr(conversion.feedback, "threshold", None), "learn"), usual=learned.usual,
        )  # fmt: skip
        spent = len(first) if learned.stands else 0
        samples = float(weight[first].sum()) if spent else 0.0
        state = conversion.start(h, t=1 + spent // int(self.batch_size), samples=samples)
        return _Run(conversion, learned.loss, setting, scaling, learned.scale, state, spent)

    def _look(self, P: Any, y: Array, weight: Array, distinct: float) -> _Learned:
        """Return what the recipe needs to know, from packed first rows."""
        loss, width = self._resolved_loss(), P.shape[1]
        leverage = 3.0 if self._regresses else 7.0
        spread = pilot.spread(P, leverage)
        point, lines, scale = np.zeros((0, width)), None, 1.0
        if self._regresses and self.pilot != 0:
            found = pilot.first_fit(P, y, weight / weight.mean(), spread.typical, leverage, distinct)
            point, lines = found.point[None], found.lines
            scale = lines.scale if lines is not None else float(np.median(np.abs(P @ found.point - y))) or 1.0
        if isinstance(self.loss, str) and isinstance(loss, losses.Huber):
            loss = losses.Huber(HUBER_WIDTH * scale)
        if isinstance(self.loss, str) and isinstance(loss, losses.Pinball):
            loss = losses.Pinball(smoothing=PINBALL_SMOOTHING * scale)
        usual = 0.0
        if isinstance(loss, losses.Poisson):
            usual = max(float(np.average(y, weights=weight)), 1e-300)
            point, lines = pilot.constant(P, np.log(usual)), lines and LeastRisk().read(usual - y, len(y), width)
            loss = losses.Poisson(np.log(10 * usual)) if isinstance(self.loss, str) else loss
        prediction = np.asarray(P @ point[0]).ravel() if len(point) else np.zeros(len(y))
        bend = usual or pilot.curvature(loss, y, prediction)
        curvature = bend * (
            spread.typical if self.batch_size == 1 else spread.largest + spread.typical / self.batch_size
        )
        return _Learned(
            loss, width, point, lines, scale, bend, bend * spread.typical, leverage, curvature, max(1, int(distinct)),
            stands=isinstance(loss, losses.SquaredError) and len(point) > 0,
            kinked=not usual and pilot.kinked(loss, y, prediction), usual=usual,
        )  # fmt: skip

    def _conversion(self, learned: _Learned, anchor: Callable[[Any], anchors.Anchor]) -> Conversion:
        """Return the parts given, and the recipe's for those that are "auto"."""
        step, power = (0.5, 1 / 3) if learned.stands else (0.9, 0.35)
        rule: Any = ConstantThreshold(inf)
        if learned.lines is not None and losses.derivative_bound(learned.loss) == inf:
            rule = LeastRisk(start=learned.lines, samples=learned.distinct, dimension=learned.width)
        carried = Carried(
            early=0.0 if learned.stands else 8.0, leverage=learned.leverage, typical=learned.typical,
            dimension=learned.width,
        )  # fmt: skip
        recipe: dict[str, Any] = {
            "learner": MirrorDescent(
                Decaying(step / learned.curvature, span=4.0 * learned.width, power=power),
                longest=LONGEST / (learned.typical / learned.bend) ** 0.5 if learned.usual else inf,
            ),
            "feedback": Clip(rule),
            "weights": Polynomial(64.0 if learned.stands else 8.0),
            "estimate": Fresh() if learned.kinked else carried,
        }
        parts = {name: getattr(self, name) for name in recipe}
        parts = {name: recipe[name] if isinstance(part, str) else part for name, part in parts.items()}
        if isinstance(parts["estimate"], Carried) and parts["estimate"].typical is None:
            parts["estimate"] = parts["estimate"]._replace(typical=learned.typical)
        if callable(getattr(parts["feedback"], "anchor", None)):
            parts["feedback"] = parts["feedback"]._replace(anchor=anchor(parts["feedback"].anchor))
        return Conversion(**parts, query=self.query)

    def _anchor(
        self, rule: Any, X: Any, y: Array, weight: Array, order: Any, h: Array, scaling: pilot.Scaling
    ) -> anchors.Anchor:
        """Return the anchor that a rule of `surefoot.anchors` makes of the weighted gradients of all rows at h."""
        P = pilot.packed(X[order], scaling, self.fit_intercept)
        P = P.toarray() if sparse.issparse(P) else P
        slopes, loss = np.zeros((len(order), len(h))), self._resolved_loss()
        if hasattr(loss, "fill"):
            scores = P @ h.T
            for r, target in enumerate(y[order]):
                loss.fill(target, scores, slopes, r)
        else:
            slopes[:, 0] = loss.derivative(y[order], P @ h[0])
        slopes *= (weight[order] / weight[order].mean())[:, None]
        found: anchors.Anchor = rule(slopes[:, :, None] * P[:, None, :], h)
        return found

    def _stream(self, X: Any, y: Array, weight: Array, order: Any, spent: int = 0) -> float:
        """Run one pass over the rows in `order`, but for the first `spent`; return the mean progressive loss."""
        run = self._run
        scale, dtype = run.scaling, X.dtype
        center, factor = scale.center.astype(dtype), scale.factor.astype(dtype)
        one = dtype.type(1.0)
        rows: Any = DenseRows(X, center, factor, one)
        if sparse.issparse(X):
            rows = SparseRows(X.data, X.indices, X.indptr, factor, one)
        order = np.ascontiguousarray(order[spent:], dtype=np.intp)
        state, tallies = advance(run.conversion, run.loss, run.setting, rows, y, weight, order, run.state)
        self._run = replace(run, state=state)
        seen = max(float(tallies[1:].sum()), 1e-300)
        loss, clipped, replaced = (float(tallies[i] / seen) for i in (0, 2, 3))
        self.clipped_fraction_ = clipped + replaced
        if not len(order):
            loss, self.clipped_fraction_ = self._loss_on(X, y, weight, np.arange(len(y))), 0.0
        step: Any = getattr(run.conversion.learner, "step_size", None)
        self.history_.append(
            {
                "loss": loss, "clipped": clipped, "rejected": replaced, "scale": self._running_scale(),
                "step": step.at(state.t) if step is not None else 0.0, "carried": float(np.linalg.norm(state.carried)),
            }
        )  # fmt: skip
        return loss

    def _running_scale(self) -> float:
        """Return the typical residual, as last read."""
        rule: Any = getattr(self._run.conversion.feedback, "threshold", None)
        memory = self._run.state.memory[1]
        return float(rule.scale(memory)) if hasattr(rule, "scale") and memory else self._run.scale

    def _loss_on(self, X: Any, y: Array, weight: Array, rows: Any) -> float:
        """Return the mean loss of the reported point on some rows."""
        if not len(rows):
            return inf
        self._publish()
        scores = np.asarray(X[rows] @ self._raw_coef.T) + self._raw_intercept
        targets = y[rows]
        if scores.shape[1] == 1:
            values = self._run.loss.value(targets, scores[:, 0])
        else:
            values = self._run.loss.value(targets.astype(np.int64), scores)
        return float(np.average(values, weights=weight[rows]))

    def _publish(self) -> None:
        """Fold the scaling back: coefficients and intercepts of the raw columns."""
        run, first = self._run, int(self.fit_intercept)
        h = run.state.hbar
        self._raw_coef = h[:, first:] * run.scaling.factor
        offset = h[:, 0] if first else np.zeros(len(h))
        self._raw_intercept = offset - self._raw_coef @ run.scaling.center
        self.t_ = run.state.t

    def _initial(self, h: Array, scaling: pilot.Scaling, coef: Any, intercept: Any) -> Array:
        """Return the start a user gave, in scaled columns."""
        first = int(self.fit_intercept)
        if coef is not None:
            given = np.asarray(coef, dtype=np.float64).reshape(len(h), -1)
            if given.shape[1] != h.shape[1] - first:
                raise ValueError(f"coef_init: expected shape ({len(h)}, {h.shape[1] - first}), got {np.shape(coef)}")
            h[:, first:] = given / scaling.factor
            if first:
                h[:, 0] = given @ scaling.center
        if intercept is not None and first:
            h[:, 0] += np.asarray(intercept, dtype=np.float64)
        return h

    def _partial_fit(self, X: Any, y: Array, weight: Array) -> None:
        """Go on with these rows; until there are enough for a pilot, start anew with all so far."""
        keep = np.flatnonzero(weight > 0)
        X, y, weight = X[keep], y[keep], weight[keep]
        fresh = not hasattr(self, "_run")
        if fresh or self._waiting is not None:
            if not fresh:
                stack = sparse.vstack if sparse.issparse(X) else np.concatenate
                X_before, y_before, weight_before = self._waiting
                X = stack([X_before, X])
                X = X.tocsr() if sparse.issparse(X) else X
                y, weight = np.concatenate([y_before, y]), np.concatenate([weight_before, weight])
            if len(y) == 0:
                return
            self.history_ = []
            order = np.arange(len(y))
            self._run = self._begin(X, y, weight, order, None, float(2**53), None, None)
            self._stream(X, y, weight, order, self._run.spent)
            self._waiting = None if len(y) >= pilot.rows_wanted(X.shape[1]) else (X, y, weight)
        elif len(y):
            self._stream(X, y, weight, np.arange(len(y)))
        self.n_iter_ = 1
        self._publish()

    # What a fit needs to know.

    def _check(self) -> None:
        """Raise an error that names the parameter that is wrong."""
        for name, least in (("batch_size", 1), ("max_iter", 1), ("n_iter_no_change", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name}: expected a whole number of at least {least}, got {value!r}")
        if not _real(self.penalty) or not 0 <= self.penalty < inf:
            raise ValueError(f"penalty: expected a non-negative number, got {self.penalty!r}")
        if self.tol is not None and not (_real(self.tol) and self.tol >= 0):
            raise ValueError(f"tol: expected a non-negative number or None, got {self.tol!r}")
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction: expected a number between 0 and 1, got {self.validation_fraction!r}"
            )
        if not (self.feature_scale is None or self.feature_scale == "auto"):
            raise ValueError(f'feature_scale: expected "auto" or None, got {self.feature_scale!r}')
        if not (self.pilot == "auto" or (isinstance(self.pilot, Integral) and self.pilot == 0)):
            raise ValueError(f'pilot: expected "auto" or 0, got {self.pilot!r}')
        for name in ("learner", "feedback", "weights", "estimate"):
            if isinstance(getattr(self, name), str) and getattr(self, name) != "auto":
                raise ValueError(f'{name}: expected "auto" or a part, got {getattr(self, name)!r}')

    def _resolved_loss(self) -> Any:
        if isinstance(self.loss, str):
            if self.loss not in self._losses:
                raise ValueError(f"loss: expected one of {', '.join(self._losses)} or a loss, got {self.loss!r}")
            return self._losses[self.loss]
        if isinstance(self.loss, type) or not hasattr(self.loss, "value"):
            raise ValueError(f"loss: expected a loss, a NamedTuple with value and derivative, got {self.loss!r:.60}")
        check = getattr(self.loss, "check", None)
        if check is not None:
            check()
        return self.loss

    def _shape(self, X: Any) -> tuple[int, int]:
        return self._scores(), X.shape[1] + int(self.fit_intercept)

    def _validated(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Any, Array]:
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=reset,
            y_numeric=self._regresses, accept_large_sparse=True,
        )  # fmt: skip
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return merged(X), y, weight

    def _scores_of(self, X: Any) -> Array:
        """Return one score a row and class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=False)
        scores: Array = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores

    def outlier_score(self, X: Any, y: Any) -> Array:
        """Return how far beyond the usual each row lies: look at the rows with the largest values.

        The size of the residual over the typical one, where the loss leaves residuals open; and the square of the
        (scaled) row's norm over the typical one, whichever is larger.
        """
        check_is_fitted(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        run = self._run
        P = pilot.packed(merged(X), run.scaling, self.fit_intercept)
        leverage = pilot.squares(P) * run.setting.curvature / run.setting.typical
        if run.setting.judged:
            return np.asarray(leverage)
        link = getattr(run.loss, "link", lambda scores: scores)
        residual = np.abs(link(np.asarray(P @ run.state.hbar[0]).ravel()) - self._targets(y))
        return np.asarray(np.maximum(residual / (self._running_scale() or 1.0), leverage))


class SurefootRegressor(RegressorMixin, _SurefootModel):
    """Linear regression that wild rows cannot wreck, and that can be stopped at any step.

    loss: "squared_error", "huber", "pinball" (the median), "poisson" (counts, with a log link), or any loss: a
    NamedTuple with `value(y, prediction)` and `derivative(y, prediction)`. learner, feedback, weights, estimate: parts
    of `surefoot`, or "auto", the recipe.
    query: where gradients are asked for, "average", "last" or a number between. penalty: of half the squared
    coefficients of the scaled columns. feature_scale: "auto" or None. pilot: "auto", or 0 to start from `coef_init`,
    `intercept_init` or zero. The others are scikit-learn's.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(2000) + 1000 * (rng.random(2000) < 0.1)
    >>> SurefootRegressor(random_state=0).fit(X, y).coef_.round(1)
    array([1., 2., 3.])
    """

    _regresses, _losses = True, REGRESSION

    def __init__(
        self, loss: Any = "squared_error", *, learner: Any = "auto", feedback: Any = "auto", weights: Any = "auto",
        query: Any = "average", estimate: Any = "auto", penalty: float = 0.0, feature_scale: Any = "auto",
        pilot: Any = "auto", fit_intercept: bool = True, batch_size: int = 8, max_iter: int = 10,
        tol: float | None = 1e-4, n_iter_no_change: int = 2, early_stopping: bool = False,
        validation_fraction: float = 0.1, shuffle: bool = True, warm_start: bool = False, random_state: Any = None,
        verbose: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            loss, learner=learner, feedback=feedback, weights=weights, query=query, estimate=estimate,
            penalty=penalty, feature_scale=feature_scale, pilot=pilot, fit_intercept=fit_intercept,
            batch_size=batch_size, max_iter=max_iter, tol=tol, n_iter_no_change=n_iter_no_change,
            early_stopping=early_stopping, validation_fraction=validation_fraction, shuffle=shuffle,
            warm_start=warm_start, random_state=random_state, verbose=verbose,
        )  # fmt: skip

    def fit(self, X: Any, y: Any, sample_weight: Any = None, coef_init: Any = None, intercept_init: Any = None) -> Self:
        """Learn from a table."""
        self._check()
        X, y, weight = self._validated(X, y, sample_weight, reset=True)
        self._resolved_loss()
        self._waiting = None
        self._fit(X, self._targets(y), weight, coef_init, intercept_init)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from more rows, each seen once; shuffle sorted tables first."""
        self._check()
        X, y, weight = self._validated(X, y, sample_weight, reset=not hasattr(self, "_run"))
        self._resolved_loss()
        self._partial_fit(X, self._targets(y), weight)
        return self

    def predict(self, X: Any) -> Array:
        """Return the predictions: for `poisson`, the means."""
        scores, link = self._scores_of(X), getattr(self._run.loss, "link", None)
        return scores if link is None else np.asarray(link(scores))

    def _publish(self) -> None:
        super()._publish()
        self.coef_, self.intercept_ = self._raw_coef[0], float(self._raw_intercept[0])

    def _targets(self, y: Any) -> Array:
        targets = np.asarray(y, dtype=np.float64)
        if isinstance(self._resolved_loss(), losses.Poisson) and (targets.min() < 0 or not targets.any()):
            raise ValueError("y: the Poisson loss is for numbers of at least zero, not all of them zero")
        return targets

    def _scores(self) -> int:
        return 1


class SurefootClassifier(ClassifierMixin, _SurefootModel):
    """Linear classification that wild rows cannot wreck, and that can be stopped at any step.

    loss: "log_loss" (one score for two classes, softmax for more), "squared_hinge", "modified_huber" (two classes),
    `surefoot.losses.Softmax()` (always one score a class), or a loss of yours for targets 0 and 1. class_weight: as
    scikit-learn's. The other parameters are those of `SurefootRegressor`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 3))
    >>> y = X[:, 0] + rng.logistic(size=2000) > 0
    >>> X[rng.random(2000) < 0.05] *= 100
    >>> SurefootClassifier(random_state=0).fit(X, y).coef_[0, 0].round(0)
    np.float64(1.0)
    """

    _regresses, _losses = False, CLASSIFICATION

    def __init__(
        self, loss: Any = "log_loss", *, learner: Any = "auto", feedback: Any = "auto", weights: Any = "auto",
        query: Any = "average", estimate: Any = "auto", penalty: float = 0.0, feature_scale: Any = "auto",
        pilot: Any = "auto", fit_intercept: bool = True, class_weight: Any = None, batch_size: int = 8,
        max_iter: int = 10, tol: float | None = 1e-4, n_iter_no_change: int = 2, early_stopping: bool = False,
        validation_fraction: float = 0.1, shuffle: bool = True, warm_start: bool = False, random_state: Any = None,
        verbose: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            loss, learner=learner, feedback=feedback, weights=weights, query=query, estimate=estimate,
            penalty=penalty, feature_scale=feature_scale, pilot=pilot, fit_intercept=fit_intercept,
            batch_size=batch_size, max_iter=max_iter, tol=tol, n_iter_no_change=n_iter_no_change,
            early_stopping=early_stopping, validation_fraction=validation_fraction, shuffle=shuffle,
            warm_start=warm_start, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight

    @classmethod
    def holland2022(cls, method: str = "anytime-robust-sgd", *, n_train: int, **more: Any) -> "SurefootClassifier":
        """Return a method of the paper's experiment (Holland 2022, section 5), its five parts visible.

        method: "sgd-ave", "anytime-sgd" or "anytime-robust-sgd". n_train: the number of training rows, from which all
        constants follow. Give h_1 to `fit` as `coef_init`.
        """
        methods: dict[str, tuple[str, Any]] = {
            "sgd-ave": ("last", Raw()),
            "anytime-sgd": ("average", Raw()),
            "anytime-robust-sgd": (
                "average", Truncate(ConstantThreshold.holland2022(n_train), anchor=anchors.empirical_mean),  # type: ignore[arg-type]
            ),
        }  # fmt: skip
        if method not in methods:
            raise ValueError(f"method: expected one of {', '.join(methods)}, got {method!r}")
        query, feedback = methods[method]
        parts = {
            "loss": losses.Softmax(), "learner": MirrorDescent(Constant(2 / n_train**0.5)), "feedback": feedback,
            "weights": Uniform(), "query": query, "estimate": Fresh(), "feature_scale": None, "pilot": 0,
            "fit_intercept": False, "tol": None, "max_iter": 30,
        }  # fmt: skip
        return cls(**{**parts, **more})

    def fit(self, X: Any, y: Any, sample_weight: Any = None, coef_init: Any = None, intercept_init: Any = None) -> Self:
        """Learn from a table."""
        self._check()
        X, y, weight = self._validated(X, y, sample_weight, reset=True)
        check_classification_targets(y)
        before = getattr(self, "classes_", None)
        self.classes_ = np.unique(y)
        if before is not None and not np.array_equal(before, self.classes_):
            self.__dict__.pop("_run", None)
        self._check_classes()
        self._waiting = None
        self._fit(X, self._targets(y), self._weighted(weight, y), coef_init, intercept_init)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, each seen once; `classes`, all there will ever be, at the first call."""
        self._check()
        first = not hasattr(self, "_run")
        X, y, weight = self._validated(X, y, sample_weight, reset=first)
        check_classification_targets(y)
        if first and classes is None and not hasattr(self, "classes_"):
            raise ValueError("classes: all classes must be given at the first call of partial_fit")
        if classes is not None:
            given = np.unique(classes)
            if hasattr(self, "classes_") and not np.array_equal(given, self.classes_):
                raise ValueError(f"classes: {given} is not the same as at the first call, {self.classes_}")
            self.classes_ = given
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y: the classes {unknown} were not among those of the first call, {self.classes_}")
        if isinstance(self.class_weight, str):
            raise ValueError('class_weight: "balanced" needs all rows; pass a dictionary of weights to partial_fit')
        self._check_classes()
        self._partial_fit(X, self._targets(y), self._weighted(weight, y))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the scores: one a row for two classes, else one a class."""
        scores = self._scores_of(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Any:
        """Return the most likely classes."""
        scores = self._scores_of(X)
        chosen = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[chosen]

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class."""
        scores = self._scores_of(X)
        link = getattr(self._run.loss, "link", None)
        if link is None:
            raise AttributeError(
                f"predict_proba: the loss {self.loss!r} has no probabilities; use log_loss or modified_huber"
            )
        if scores.shape[1] > 1:
            return np.asarray(link(scores))
        if isinstance(self._run.loss, losses.Softmax):
            link = losses.LogLoss().link
        positive = np.asarray(link(scores[:, 0]))
        return np.column_stack([1 - positive, positive])

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of each class's probability."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _publish(self) -> None:
        super()._publish()
        self.coef_, self.intercept_ = self._raw_coef, self._raw_intercept
        if len(self.coef_) == 2 and len(self.classes_) == 2:
            self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(f"y: expected at least two classes, got only {len(self.classes_)} class")
        if len(self.classes_) > 2 and not isinstance(self._resolved_loss(), losses.Softmax):
            raise ValueError(f"loss: {self.loss!r} is for two classes, got {len(self.classes_)}; use log_loss")

    def _resolved_loss(self) -> Any:
        loss = super()._resolved_loss()
        return losses.Softmax() if self.loss == "log_loss" and len(self.classes_) > 2 else loss

    def _targets(self, y: Any) -> Array:
        return np.asarray(np.searchsorted(self.classes_, y), dtype=np.float64)

    def _weighted(self, weight: Array, y: Any) -> Array:
        if self.class_weight is None:
            return weight
        of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        return np.asarray(weight * of_class[np.searchsorted(self.classes_, y)])

    def _scores(self) -> int:
        return len(self.classes_) if isinstance(self._resolved_loss(), losses.Softmax) else 1
