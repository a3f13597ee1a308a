"""The estimators: scikit-learn's contract, the recipe's promises, bad input, odd tables."""

import pickle
from math import inf

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import surefoot as sf
from surefoot import SurefootClassifier, SurefootRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# A shuffled fit in batches cannot equal one on a reordered, repeated table to 1e-7: no such method can.
UNMEETABLE = {
    "check_sample_weight_equivalence_on_dense_data": "compares with a reordered, repeated table",
    "check_sample_weight_equivalence_on_sparse_data": "compares with a reordered, repeated table",
}
# There columns are of size 20 and weights up to 1,000; the paper's step is for columns in [0, 1], without intercept.
OF_THE_PAPER = {"check_class_weight_classifiers": "the paper's constant step is for scaled columns"}


CHECKED = {
    "regressor": SurefootRegressor(random_state=0),
    "classifier": SurefootClassifier(random_state=0),
    "fresh, last, batch 1": SurefootRegressor(random_state=0, batch_size=1, query="last", estimate=sf.Fresh()),
    "the paper's": SurefootClassifier.holland2022(n_train=100, random_state=0),
}


def checks():
    """Yield scikit-learn's checks of all these estimators, named without addresses."""
    for name, estimator in CHECKED.items():
        expected = {**UNMEETABLE, **(OF_THE_PAPER if name == "the paper's" else {})}
        for each, check in estimator_checks_generator(estimator, legacy=True):
            title = getattr(check, "func", check).__name__
            marks = [pytest.mark.xfail(reason=expected[title], strict=True)] if title in expected else []
            yield pytest.param(each, check, id=f"{name}: {title}", marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def data(seed=0, rows=3000, columns=6, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    truth = np.linspace(-1, 2, columns)
    return X, X @ truth + 3.0 + noise * rng.standard_normal(rows), truth


def excess(model, truth):
    return float(np.sum((model.coef_ - truth) ** 2) + (model.intercept_ - 3.0) ** 2)


@pytest.mark.parametrize("share", [0.0, 0.08, 0.3])
def test_gross_errors_in_the_target_do_no_harm(share):
    """3,000 rows, 7 unknowns: squared errors of about 7/3000; least squares has 700 times that at 8%."""
    X, y, truth = data()
    y = y + 100 * (np.random.default_rng(1).random(len(y)) < share)
    assert excess(SurefootRegressor(random_state=0).fit(X, y), truth) < 0.02


def test_gross_errors_in_the_features_do_no_harm():
    X, y, truth = data(2)
    wild = np.random.default_rng(3).random(len(y)) < 0.05
    X, labels = np.where(wild[:, None], 100 * X, X), y > 3
    assert excess(SurefootRegressor(random_state=0).fit(X, np.where(wild, -y, y)), truth) < 0.05
    clean = SurefootClassifier(random_state=0).fit(X[~wild], labels[~wild])
    dirty = SurefootClassifier(random_state=0).fit(X, labels)
    test, _, _ = data(4)
    assert np.mean(clean.predict(test) != dirty.predict(test)) < 0.03


def test_on_clean_rows_it_is_what_the_batch_methods_find():
    X, y, _ = data(5, rows=20_000)
    ours, ridge = SurefootRegressor(random_state=0).fit(X, y), Ridge(1e-6).fit(X, y)
    assert ours.coef_ == pytest.approx(ridge.coef_, abs=0.01)
    labels = np.random.default_rng(6).random(len(y)) < 1 / (1 + np.exp(3 - y))
    ours, exact = SurefootClassifier(random_state=0).fit(X, labels), LogisticRegression(C=np.inf).fit(X, labels)
    assert ours.coef_ == pytest.approx(exact.coef_, abs=0.05)
    assert ours.predict_proba(X) == pytest.approx(exact.predict_proba(X), abs=0.02)


def test_the_penalty_is_ridge_on_the_scaled_columns():
    X, y, _ = data(7, rows=8000)
    model = SurefootRegressor(penalty=0.5, random_state=0, max_iter=30, tol=None).fit(X, y)
    scale = model._run.scaling
    Z = (X - scale.center) * scale.factor
    exact = Ridge(0.5 * len(y)).fit(Z, y)
    assert model.coef_ / scale.factor == pytest.approx(exact.coef_, abs=0.03)


@pytest.mark.parametrize("model", [SurefootRegressor(random_state=0), SurefootClassifier(random_state=0)])
def test_predictions_do_not_depend_on_units(model):
    X, y, _ = data(8, rows=2500)
    y = y if isinstance(model, SurefootRegressor) else y > 3
    moved = X * 10.0 ** np.array([6, -6, 0, 3, -3, 1]) + np.array([1e7, 0.0, -50.0, 0.0, 1.0, 0.0])
    answer = "predict" if isinstance(model, SurefootRegressor) else "decision_function"
    plain, other = (getattr(clone(model).fit(table, y), answer)(table) for table in (X, moved))
    assert plain == pytest.approx(other, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("k", [2, 4])
def test_softmax_and_one_score(k):
    rng = np.random.default_rng(9)
    X = rng.standard_normal((4000, 5))
    scores = X @ rng.standard_normal((5, k))
    y = np.array(["a", "b", "c", "d"])[(scores + rng.gumbel(size=scores.shape)).argmax(axis=1)]
    model = SurefootClassifier(random_state=0).fit(X, y)
    both = SurefootClassifier(loss=sf.losses.Softmax(), random_state=0).fit(X, y)
    assert model.coef_.shape == both.coef_.shape == (1 if k == 2 else k, 5)
    exact = LogisticRegression(C=np.inf).fit(X, y).predict_proba(X)
    for each in (model, both):
        assert each.predict_proba(X) == pytest.approx(exact, abs=0.06)
        assert each.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
        assert np.exp(each.predict_log_proba(X)) == pytest.approx(each.predict_proba(X))


def test_sparse_rows_are_dense_rows_without_centring():
    rng = np.random.default_rng(10)
    X = np.where(rng.random((2500, 8)) < 0.3, rng.standard_normal((2500, 8)), 0.0)
    y = X.sum(axis=1) + rng.standard_normal(2500)
    settings_ = {"random_state": 0, "feature_scale": None, "max_iter": 2, "tol": None}
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        for model, target in ((SurefootRegressor(**settings_), y), (SurefootClassifier(**settings_), y > 0)):
            dense, thin = clone(model).fit(X, target), clone(model).fit(kind(X), target)
            assert thin.coef_ == pytest.approx(dense.coef_, abs=1e-9)
            assert thin.predict(kind(X)) == pytest.approx(dense.predict(X), abs=1e-9)


@pytest.mark.parametrize("model", [SurefootRegressor(), SurefootClassifier()])
def test_pieces_cut_on_batches_are_one_pass(model):
    X, y, _ = data(11, rows=2600)
    y = y if isinstance(model, SurefootRegressor) else (y > 3).astype(int)
    whole = clone(model).set_params(shuffle=False, max_iter=1, tol=None).fit(X, y)
    pieces, more = clone(model), {} if isinstance(model, SurefootRegressor) else {"classes": [0, 1]}
    if isinstance(model, SurefootRegressor):  # in a stream nobody knows how many distinct rows there will be
        pieces.set_params(feedback=whole._run.conversion.feedback)
        whole = clone(model).set_params(shuffle=False, max_iter=1, tol=None, feedback=pieces.feedback).fit(X, y)
    for begin, end in ((0, 1024), (1024, 1600), (1600, 1608), (1608, 2600)):
        pieces.partial_fit(X[begin:end], y[begin:end], **more)
    assert pieces.coef_ == pytest.approx(whole.coef_, abs=1e-10)
    assert pieces.t_ == whole.t_


def test_partial_fit_is_usable_from_the_first_call():
    X, y, truth = data(12)
    model = SurefootRegressor()
    errors = []
    for begin in range(0, 3000, 100):
        model.partial_fit(X[begin : begin + 100], y[begin : begin + 100])
        errors.append(excess(model, truth))
    assert errors[0] < 2.0
    assert errors[-1] < 0.02


def test_a_fit_pickles_and_goes_on_bit_for_bit():
    X, y, _ = data(13)
    model = SurefootRegressor(random_state=0).partial_fit(X[:2000], y[:2000])
    other = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[2000:], y[2000:])
    other.partial_fit(X[2000:], y[2000:])
    assert np.array_equal(model.coef_, other.coef_)


def test_weights_are_repetitions_where_order_does_not_matter():
    """The whole table in one batch: a row of weight 3 is three rows."""
    X, y, _ = data(14, rows=60)
    weight = np.random.default_rng(15).integers(0, 4, 60).astype(float)
    repeated = np.repeat(np.arange(60), weight.astype(int))
    for model, target in ((SurefootRegressor, y), (SurefootClassifier, y > 3)):
        settings_ = {"pilot": 0, "feature_scale": None, "shuffle": False, "max_iter": 3, "tol": None}
        settings_["learner"] = sf.MirrorDescent(sf.Constant(0.1))
        settings_["feedback"], settings_["estimate"] = sf.Clip(sf.ConstantThreshold(inf)), sf.Carried(typical=3.0)
        one = model(**settings_, batch_size=1000).fit(X, target, sample_weight=weight)
        other = model(**settings_, batch_size=1000).fit(X[repeated], target[repeated])
        assert one.coef_ == pytest.approx(other.coef_, abs=1e-10)


def test_class_weight_is_sample_weight():
    X, y, _ = data(16)
    labels = np.where(y > 5, "rare", "common")
    weighted = SurefootClassifier(class_weight={"rare": 4.0, "common": 0.5}, random_state=0).fit(X, labels)
    weight = np.where(labels == "rare", 4.0, 0.5)
    assert weighted.coef_ == pytest.approx(SurefootClassifier(random_state=0).fit(X, labels, weight).coef_)
    balanced = SurefootClassifier(class_weight="balanced", random_state=0).fit(X, labels)
    assert np.mean(balanced.predict(X) == "rare") > np.mean(labels == "rare")
    with pytest.raises(ValueError, match="class_weight"):
        SurefootClassifier(class_weight="balanced").partial_fit(X, labels, classes=["rare", "common"])


def test_early_stopping_keeps_the_best_model():
    X, y, _ = data(17)
    model = SurefootRegressor(early_stopping=True, random_state=0, max_iter=40).fit(X, y)
    assert model.n_iter_ < 40
    assert len(model.history_) == model.n_iter_


def test_tol_none_runs_all_passes_and_a_short_fit_warns():
    X, y, _ = data(18, rows=500)
    assert SurefootRegressor(tol=None, max_iter=7, random_state=0).fit(X, y).n_iter_ == 7
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        SurefootClassifier(max_iter=3, tol=0.0, random_state=0).fit(X, X[:, 0] > 0)


def test_warm_start_goes_on():
    X, y, _ = data(19)
    model = SurefootClassifier(warm_start=True, max_iter=2, tol=None, random_state=0).fit(X, y > 3)
    t = model.t_
    model.fit(X, y > 3)
    assert model.t_ == t + 2 * -(-3000 // 8)
    assert SurefootClassifier(max_iter=2, tol=None, random_state=0).fit(X, y > 3).t_ == t


def test_other_losses():
    X, y, truth = data(20, rows=6000)
    skewed = y + np.random.default_rng(21).exponential(3.0, 6000)
    quantile = SurefootRegressor(sf.losses.Pinball(0.9, smoothing=0.5), random_state=0, max_iter=20).fit(X, skewed)
    assert np.mean(skewed < quantile.predict(X)) == pytest.approx(0.9, abs=0.02)
    for loss in ("huber", "pinball", sf.losses.Pinball()):
        assert excess(SurefootRegressor(loss, random_state=0).fit(X, y), truth) < 0.05
    for loss in ("squared_hinge", "modified_huber"):
        model = SurefootClassifier(loss, random_state=0).fit(X, y > 3)
        assert model.score(X, y > 3) > 0.8
    assert SurefootClassifier("modified_huber", random_state=0).fit(X, y > 3).predict_proba(X).shape == (6000, 2)
    with pytest.raises(AttributeError, match="has no probabilities"):
        SurefootClassifier("squared_hinge", random_state=0).fit(X, y > 3).predict_proba(X)


def test_poisson_is_what_the_generalized_linear_model_finds():
    rng = np.random.default_rng(28)
    X = rng.standard_normal((20_000, 4)) * [1.0, 0.5, 0.0, 2.0]
    y = rng.poisson(np.exp(X @ [0.5, -0.5, 1.0, 0.2] - 1.0)).astype(float)
    weight = rng.uniform(0.2, 1.0, 20_000)
    ours = SurefootRegressor("poisson", random_state=0).fit(X, y, weight)
    exact = PoissonRegressor(alpha=0.0, max_iter=1000).fit(X, y, weight)
    assert ours.predict(X) == pytest.approx(exact.predict(X), rel=0.12)
    assert np.average(ours.predict(X), weights=weight) == pytest.approx(np.average(y, weights=weight), rel=0.02)
    wild = np.where(rng.random((20_000, 1)) < 0.01, 1e6 * X, X)
    dirty = SurefootRegressor("poisson", random_state=0).fit(wild, y, weight)
    assert dirty.coef_ == pytest.approx(ours.coef_, abs=0.15)  # shrunk by a fifth: their leverage is capped, not zero
    for bad in (-y, 0 * y):
        with pytest.raises(ValueError, match="y: the Poisson loss is for numbers of at least zero"):
            ours.fit(X, bad)


def test_outliers_can_be_looked_at():
    X, y, _ = data(22)
    y[:20] += 500
    X[20:30] *= 50
    for model in (SurefootRegressor(random_state=0).fit(X, y), SurefootClassifier(random_state=0).fit(X, y > 3)):
        scores = model.outlier_score(X, y if isinstance(model, SurefootRegressor) else y > 3)
        wild = np.arange(30) if isinstance(model, SurefootRegressor) else np.arange(20, 30)
        assert set(np.argsort(scores)[-len(wild) :]) == set(wild)
    model = SurefootRegressor(random_state=0).fit(X, y)
    assert 0.0 < model.clipped_fraction_ < 0.2
    assert {"loss", "clipped", "rejected", "scale", "step", "carried"} <= set(model.history_[0])


def test_frames_grids_and_pipelines():
    X, y, _ = data(23)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = SurefootRegressor(random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == list("abcdef")
    assert cross_val_score(make_pipeline(StandardScaler(), clone(model)), frame, y, cv=3).min() > 0.6
    grid = {"estimate": [sf.Fresh(), sf.Carried(typical=6.0)], "penalty": [0.0, 0.1]}
    search = GridSearchCV(clone(model), grid, cv=2).fit(X, y)
    assert isinstance(search.best_params_["estimate"], sf.Carried)
    assert "SurefootRegressor" in model._repr_html_()


@pytest.mark.parametrize("method", ["sgd-ave", "anytime-sgd", "anytime-robust-sgd"])
def test_the_paper_s_methods_are_those_of_the_experiment(method):
    """The estimator's preset and `surefoot reproduce` run the same rounds."""
    from surefoot.paper import methods
    from surefoot.paper.experiments import train

    rng = np.random.default_rng(24)
    X, y, h1 = rng.random((400, 4)), rng.integers(0, 2, 400), rng.uniform(-0.05, 0.05, (2, 4))
    task = methods.Task(X, y, h1)
    (state, _), *_ = train(task, methods.METHODS[method](task), 1, rng=_InOrder())
    model = SurefootClassifier.holland2022(method, n_train=400, max_iter=1, shuffle=False).fit(X, y, coef_init=h1)
    assert model._run.state.hbar == pytest.approx(state.hbar, abs=1e-12)
    assert model.coef_ == pytest.approx(np.diff(state.hbar, axis=0), abs=1e-12)
    with pytest.raises(ValueError, match="method: expected one of sgd-ave"):
        SurefootClassifier.holland2022("adam", n_train=400)


class _InOrder:
    def permutation(self, count):
        return np.arange(count)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_size": 0}, "batch_size: expected a whole number"),
        ({"max_iter": 2.5}, "max_iter: expected a whole number"),
        ({"penalty": -1.0}, "penalty: expected a non-negative number"),
        ({"tol": "small"}, "tol: expected a non-negative number or None"),
        ({"validation_fraction": 1.5}, "validation_fraction: expected"),
        ({"feature_scale": "standard"}, 'feature_scale: expected "auto" or None'),
        ({"pilot": 3}, 'pilot: expected "auto" or 0'),
        ({"learner": "sgd"}, 'learner: expected "auto" or a part'),
        ({"learner": sf.Constant(1.0)}, "learner: expected a part"),
        ({"loss": "absolute"}, "loss: expected one of squared_error"),
        ({"loss": sf.losses.Huber}, "loss: expected a loss"),
        ({"loss": sf.losses.Huber(-1.0)}, "width: expected a positive"),
        ({"query": "mean"}, "query: expected"),
    ],
)
def test_wrong_parameters_are_named(change, message):
    X, y, _ = data(25, rows=50)
    with pytest.raises((ValueError, TypeError), match=message):
        SurefootRegressor(**change).fit(X, y)


def test_bad_data_is_named():
    X, y, _ = data(26, rows=50)
    model = SurefootClassifier()
    for bad_X, bad_y, message in (
        (np.where(X > 2, np.nan, X), y > 3, "NaN"),
        (np.where(X > 2, np.inf, X), y > 3, "infinity"),
        (X, y > 100, "two classes"),
        (X[:0], y[:0] > 3, "0 sample"),
        (X, y[:-1] > 3, "inconsistent"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(bad_X, bad_y)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit(X, y > 3, sample_weight=np.zeros(50))
    with pytest.raises(ValueError, match="Negative values"):
        model.fit(X, y > 3, sample_weight=np.full(50, -1.0))
    with pytest.raises(ValueError, match="classes: all classes must be given"):
        SurefootClassifier().partial_fit(X, y > 3)
    started = SurefootClassifier().partial_fit(X, np.arange(50) % 2, classes=[0, 1])
    with pytest.raises(ValueError, match="y: the classes"):
        started.partial_fit(X, np.arange(50) % 3)
    with pytest.raises(ValueError, match="is for two classes"):
        SurefootClassifier("modified_huber").fit(X, np.arange(50) % 3)
    with pytest.raises(ValueError, match="coef_init: expected shape"):
        SurefootRegressor(pilot=0).fit(X, y, coef_init=np.ones(3))


@st.composite
def tables(draw):
    """Tables nobody prepared: wild units, constants, duplicates, gross values, few rows, zeros."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows, columns = draw(st.sampled_from([1, 2, 3, 7, 30, 200])), draw(st.integers(1, 5))
    X = rng.standard_normal((rows, columns)) * 10.0 ** rng.integers(-30, 31, columns)
    if draw(st.booleans()):
        X[:, 0] = draw(st.sampled_from([0.0, 1.0, -1e30, 1e-30]))
    if draw(st.booleans()):
        X[:, -1] = X[:, 0]
    y = rng.standard_normal(rows) * 10.0 ** draw(st.integers(-20, 20))
    if draw(st.booleans()):
        y[rng.random(rows) < 0.9] = 0.0
    for target in (X, y):
        if draw(st.booleans()):
            target.flat[rng.integers(target.size)] = draw(st.sampled_from([1e100, -1e100]))
    return X, y


@settings(max_examples=150)
@given(tables(), st.sampled_from([1, 8, 500]))
def test_no_finite_table_breaks_a_fit(table, batch_size):
    X, y = table
    model = SurefootRegressor(batch_size=batch_size, max_iter=3, random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    counts = np.abs(y) / np.abs(y).max() if y.any() else y + 1
    rates = SurefootRegressor("poisson", batch_size=batch_size, max_iter=3, random_state=0).fit(X, counts)
    assert np.isfinite(rates.coef_).all()
    labels = np.arange(len(y)) % 2
    if len(y) > 1:
        kind = SurefootClassifier(batch_size=batch_size, max_iter=3, random_state=0).fit(X, labels)
        assert np.isfinite(kind.coef_).all()


def test_many_classes():
    rng = np.random.default_rng(27)
    centers = rng.standard_normal((1000, 20)) * 4
    y = np.tile(np.arange(1000), 4)
    X = centers[y] + rng.standard_normal((4000, 20)) / 2
    model = SurefootClassifier(max_iter=30, tol=None, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
