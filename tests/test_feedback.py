"""Process: exact at its lines, exact for what is not finite, and the same for one sample or many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from problems import identical

import surefoot as sf

LEARNER = sf.MirrorDescent(sf.Constant(0.1))
ANCHOR = sf.Anchor(point=np.zeros(2), gradient=np.array([1.0, -1.0]))
C = 5.0


def tell(feedback, g, estimate=sf.Fresh(), **more):  # noqa: B008
    conversion = sf.Conversion(LEARNER, feedback=feedback, estimate=estimate)
    return conversion.tell(conversion.start(np.zeros(2)), g, **more)


def beyond(length):
    """A gradient at exactly this distance from the anchor, in a direction without rounding."""
    return ANCHOR.gradient + np.array([length, 0.0])


@pytest.mark.parametrize(
    ("g", "action"),
    [
        (beyond(C), "kept"),
        (beyond(np.nextafter(C, 0.0)), "kept"),
        (beyond(C * (1 + 1e-15)), "replaced"),
        (beyond(1e300), "replaced"),
        ([np.nan, 0.0], "replaced"),
        ([np.inf, 0.0], "replaced"),
        ([-np.inf, 0.0], "replaced"),
        ([np.inf, -np.inf], "replaced"),
    ],
)
def test_truncation_is_exact_at_c(g, action):
    _, info = tell(sf.Truncate(sf.ConstantThreshold(C), ANCHOR), g)
    assert info.action == action
    assert np.array_equal(info.processed, ANCHOR.gradient if action == "replaced" else g)
    assert info.factor == (action == "kept")
    assert info.threshold == C


@pytest.mark.parametrize(
    ("length", "action", "left"),
    [
        (C, "kept", C),
        (np.nextafter(C, 9.0), "clipped", C),
        (20.0, "clipped", C),
        (np.nextafter(20.0, 99.0), "replaced", 0.0),
        (1e300, "replaced", 0.0),
        (np.nan, "replaced", 0.0),
        (np.inf, "replaced", 0.0),
    ],
)
def test_clipping_is_exact_at_both_lines(length, action, left):
    _, info = tell(sf.Clip(sf.ConstantThreshold(C, reject=20.0)), [length, 0.0])
    assert info.action == action
    assert info.processed == pytest.approx([left, 0.0], rel=1e-15)
    assert info.distance == length or (np.isnan(length) and np.isnan(info.distance))


def test_clipping_shrinks_towards_the_anchor():
    _, info = tell(sf.Clip(sf.ConstantThreshold(C), ANCHOR), beyond(4 * C))
    assert info.factor == 0.25
    assert info.processed == pytest.approx(beyond(C))


def test_what_is_not_finite_is_replaced_and_counted():
    feedback = sf.Clip(sf.ConstantThreshold(np.inf))
    g = np.array([[1.0, 2.0], [np.nan, 0.0], [np.inf, 0.0], [3.0, 4.0]])
    state, info = tell(feedback, g)
    assert list(info.action) == ["kept", "replaced", "replaced", "kept"]
    assert info.processed == pytest.approx([1.0, 1.5])
    assert state.samples == 4


@pytest.mark.parametrize("where", ["g_before", "curvature", "size"])
def test_what_is_not_finite_beside_the_gradient_is_replaced_too(where):
    g, ones = np.ones((3, 2)), np.ones(3)
    more = {"g_before": g.copy(), "curvature": ones.copy(), "size": ones.copy()}
    more[where][1] = np.nan
    state, info = tell(sf.Clip(sf.ConstantThreshold(np.inf)), g, estimate=sf.Carried(typical=1.0), **more)
    assert list(info.action) == ["kept", "replaced", "kept"]
    assert np.isfinite(state.hbar).all()
    assert state.samples == 3


@pytest.mark.parametrize("rule", [sf.RunningScale(start=1.0), sf.LeastRisk(start=sf.Lines(1.0, 2.0, 50.0))])
@pytest.mark.parametrize("size", [None, np.nan])
def test_what_is_not_finite_does_not_move_the_rule(rule, size):
    conversion = sf.Conversion(LEARNER, feedback=sf.Clip(rule))
    state = conversion.start(np.zeros(2))
    after, info = conversion.tell(state, [np.nan if size is None else 9.0, 0.0], size=size)
    assert info.action == "replaced"
    assert identical(after.memory[1], state.memory[1])
    assert after.samples == 1


def test_opposite_infinities_in_a_batch_are_replaced_in_silence():
    _, info = tell(sf.Truncate(sf.ConstantThreshold(C), ANCHOR), [[np.inf, 0.0], [-np.inf, 0.0]])
    assert info.action == "replaced"
    _, info = tell(sf.Truncate(sf.ConstantThreshold(C), ANCHOR), np.full((2, 2), 1.7e308))
    assert info.action == "replaced"
    _, info = tell(sf.Clip(sf.ConstantThreshold(C), ANCHOR), np.full((2, 2), -1.7e308))
    assert np.isfinite(info.processed).all()


def test_fresh_feedback_never_touches_the_second_gradient():
    _, info = tell(sf.Raw(), [1.0, 2.0], g_before=[np.nan, np.inf])
    assert np.array_equal(info.processed, [1.0, 2.0])


def test_raw_feedback_raises_naming_the_round():
    conversion = sf.Conversion(LEARNER)
    state = conversion.run(lambda h: h, np.ones(2), rounds=6)
    with pytest.raises(ValueError, match="g: the feedback of round 7 is not finite"):
        conversion.tell(state, [np.nan, 1.0])


def test_a_gradient_whose_norm_would_overflow_is_judged_by_its_true_norm():
    _, info = tell(sf.Clip(sf.ConstantThreshold(1e250)), [3e200, 4e200])
    assert info.distance == pytest.approx(5e200)
    assert info.action == "kept"


FEEDBACKS = [
    sf.Raw(),
    sf.Clip(sf.ConstantThreshold(2.0, reject=8.0), ANCHOR),
    sf.Truncate(sf.ConstantThreshold(4.0), ANCHOR, per="sample"),
    sf.Clip(sf.SmoothThreshold(1.0, 2.0, 0.1, base=1.0), ANCHOR),
]


@pytest.mark.parametrize("feedback", FEEDBACKS, ids=lambda f: type(f).__name__)
@given(g=arrays(float, (5, 2), elements=st.floats(-20, 20, allow_subnormal=False)))
def test_a_batch_is_its_samples_one_by_one_and_averaged(feedback, g):
    conversion = sf.Conversion(LEARNER, feedback=feedback)
    state = conversion.start(np.array([0.5, 0.5]))
    after, info = conversion.tell(state, g)
    alone = [conversion.tell(state, row)[1] for row in g]
    assert info.processed == pytest.approx(np.mean([one.processed for one in alone], axis=0), rel=1e-12, abs=1e-12)
    for name in ("distance", "threshold", "action", "factor"):
        assert list(getattr(info, name)) == [getattr(one, name) for one in alone]
    assert after.samples == 5


def test_the_batch_is_judged_by_its_mean_where_asked_for():
    _, info = tell(sf.Truncate(sf.ConstantThreshold(1.0)), [[9.0, 0.0], [-9.0, 0.0]])
    assert info.action == "kept"
    assert info.distance == 0.0
    _, info = tell(sf.Clip(sf.ConstantThreshold(1.0), per="batch"), [[9.0, 0.0], [-3.0, 0.0]])
    assert info.action == "clipped"
    assert info.processed == pytest.approx([1.0, 0.0])


def test_smooth_threshold_grows_with_the_distance_from_the_anchor():
    rule = sf.SmoothThreshold(smoothness=3.0, sigma=2.0, anchor_error=0.5, base=4.0)
    conversion = sf.Conversion(LEARNER, feedback=sf.Truncate(rule, ANCHOR))
    _, info = conversion.tell(conversion.start([3.0, 4.0]), [0.0, 0.0])
    assert info.threshold == pytest.approx(0.5 * 2.0 + 3.0 * 5.0 + 4.0)


def test_thresholds_of_the_paper():
    assert sf.ConstantThreshold.holland2022(36_177).c == pytest.approx(np.sqrt(36_177 / np.log(20)))
    rule = sf.SmoothThreshold.lemma2(smoothness=2.0, sigma=3.0, anchor_error=0.1, diameter=4.0, rounds=1000, delta=0.05)
    assert rule.base == pytest.approx(max(8.0, 3 * np.sqrt(1000 / np.log(20))) + 0.3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sf.Clip(sf.ConstantThreshold(2.0, reject=1.0)),
            "reject: the reject line 1.0 lies below the clip line",
        ),
        (lambda: sf.Clip(sf.ConstantThreshold(0.0)), "c: expected a positive"),
        (lambda: sf.Clip(sf.ConstantThreshold(np.nan)), "c: expected a number, got NaN"),
        (lambda: sf.Clip(sf.ConstantThreshold(1.0), per="row"), 'per: expected "sample" or "batch"'),
        (lambda: sf.Clip(sf.ConstantThreshold(1.0), anchor=np.zeros(2)), "anchor: expected Anchor"),
        (lambda: sf.Truncate(sf.SmoothThreshold(1.0, 1.0, 0.1, base=0.0)), "base: expected a positive"),
        (lambda: sf.Clip(sf.ConstantThreshold(1.0), sf.Anchor([0.0], [np.nan])), "anchor.gradient: expected finite"),
        (
            lambda: sf.Clip(sf.ConstantThreshold(1.0), sf.Anchor([0.0], [1.0, 2.0])),
            "anchor.gradient: expected the shape",
        ),
        (lambda: sf.Clip(sf.RunningScale(reject=1.0)), "reject: the reject line 1.0 lies below the clip line multiple"),
        (lambda: sf.Clip(sf.RunningScale(quantile=1.0)), "quantile: expected a number strictly between"),
        (lambda: sf.Clip(sf.LeastRisk(start=2.0)), "start: expected Lines"),
        (lambda: sf.Clip(sf.LeastRisk(start=sf.Lines(1.0, 3.0, 2.0))), "start.reject: the reject line 2.0 lies below"),
        (lambda: sf.Clip(sf.LeastRisk(samples=0)), "samples: expected a whole number of at least 1"),
    ],
)
def test_wrong_settings_are_named(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sf.Conversion(LEARNER, feedback=make())


def test_smooth_threshold_without_an_anchor_says_what_it_needs():
    with pytest.raises(ValueError, match="anchor: SmoothThreshold measures the distance to one"):
        tell(sf.Clip(sf.SmoothThreshold(1.0, 1.0, 0.1, base=1.0)), [0.0, 0.0])


def test_empirical_mean():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4000, 3)) + 2.0
    anchor = sf.anchors.empirical_mean(rows, np.zeros(3))
    assert anchor.gradient == pytest.approx(rows.mean(axis=0))
    assert anchor.error == pytest.approx(np.sqrt(3 / 4000), rel=0.05)
    assert sf.anchors.empirical_mean(rows[:1], np.zeros(3)).error is None
    for wrong in (rows[0], rows[:0], rows[:, :2]):
        with pytest.raises(ValueError, match="gradients: expected shape"):
            sf.anchors.empirical_mean(wrong, np.zeros(3))
