"""The losses of boosting: compared with their formulas, and minimised numerically."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn.base import clone
from sklearn.metrics import (
    log_loss,
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_squared_error,
    mean_tweedie_deviance,
)

from sklearn_textbook.ensemble.boosting.losses import (
    AbsoluteError,
    ExponentialLoss,
    GammaLoss,
    HuberLoss,
    LogLoss,
    MultinomialLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredError,
    TweedieLoss,
)
from tests.loops import loop_over
from tests.reference import losses as reference

# A loss, and the same as its formula says.
PAIRS = {
    "squared": (SquaredError(), reference.SquaredError()),
    "absolute": (AbsoluteError(), reference.QuantileLoss(factor=2.0)),
    "huber": (HuberLoss(delta=0.8), reference.HuberLoss(delta=0.8)),
    "quantile": (QuantileLoss(quantile=0.2), reference.QuantileLoss(quantile=0.2)),
    "poisson": (PoissonLoss(), reference.TweedieLoss(power=1.0)),
    "gamma": (GammaLoss(), reference.TweedieLoss(power=2.0)),
    "tweedie": (TweedieLoss(power=1.3), reference.TweedieLoss(power=1.3)),
    "log": (LogLoss(), reference.LogLoss()),
    "exponential": (ExponentialLoss(), reference.ExponentialLoss()),
    "multinomial": (MultinomialLoss(n_classes=4), reference.MultinomialLoss(4)),
}
LOSSES = {name: pair[0] for name, pair in PAIRS.items()}
# Those whose leaves take one Newton step towards the minimum.
ONE_STEP = {"poisson", "gamma", "tweedie", "log", "multinomial"}


def make_rows(loss, n_rows=301, seed=0):
    """Targets, raw scores and weights for a loss."""
    draw = np.random.default_rng(seed)
    y = draw.normal(size=n_rows)
    if isinstance(loss, TweedieLoss):
        y = draw.gamma(1.0, 2.0, n_rows)
        if loss.power < 2.0:
            y[draw.random(n_rows) < 0.3] = 0.0
    elif loss.n_classes:
        y = draw.integers(0, loss.n_classes, n_rows).astype(float)
    raw = draw.normal(size=(loss.n_scores, n_rows))
    return y, raw, draw.uniform(0.1, 3.0, n_rows)


def derive(loss, y, raw, weight=None, dtype=np.float64, n_threads=1):
    """Derivatives, and the largest of them."""
    gradient, hessian = np.empty(raw.shape, dtype), np.empty(raw.shape, dtype)
    largest = loss.compute_gradients(y, raw, weight, gradient, hessian, n_threads)
    return gradient, hessian, largest


def judge_leaf(loss, y, raw, weight, step, score=0):
    moved = raw.copy()
    moved[score] += step
    return loss.compute_loss(y, moved, weight)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_formulas(name, is_weighted):
    """A loss is what a user would write in numpy, which works as well."""
    loss, own = PAIRS[name]
    y, raw, weight = make_rows(loss, 10_000)
    weight = weight if is_weighted else None
    expected = derive(own, y, raw, weight)
    found = derive(loss, y, raw, weight)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-15)
    single = derive(loss, y, raw, weight, np.float32)
    np.testing.assert_array_equal(single[0], found[0].astype(np.float32))
    np.testing.assert_array_equal(single[1], found[1].astype(np.float32))
    assert loss.compute_loss(y, raw, weight) == pytest.approx(
        own.compute_loss(y, raw, weight), rel=1e-13
    )


@pytest.mark.parametrize("name", LOSSES)
def test_numerical_derivatives(name):
    loss = LOSSES[name]
    y, raw, weight = make_rows(loss, 60)
    gradient, hessian, largest = derive(loss, y, raw, weight)
    assert largest == (np.abs(gradient).max(), hessian.max())
    width = 1e-6
    for score in range(loss.n_scores):
        for row in range(len(y)):
            steps = np.zeros((3, *raw.shape))
            steps[:, score, row] = -width, 0.0, width
            below, _, above = (
                loss.compute_loss(y, raw + step, weight) * weight.sum()
                for step in steps
            )
            assert gradient[score, row] == pytest.approx(
                (above - below) / (2 * width), rel=1e-5, abs=1e-6
            )
            if not loss.has_constant_hessian:
                left, _, right = (
                    derive(loss, y, raw + step, weight)[0][score, row] for step in steps
                )
                assert hessian[score, row] == pytest.approx(
                    (right - left) / (2 * width), rel=1e-5, abs=1e-7
                )
    if loss.has_constant_hessian:
        np.testing.assert_array_equal(hessian[0], weight)


@pytest.mark.parametrize("name", LOSSES)
def test_start(name):
    """No constant has a smaller loss; the numerical search finds the same."""
    loss, own = PAIRS[name]
    y, _, weight = make_rows(loss)
    start = loss.find_start(y, weight)
    assert start.shape == (loss.n_scores,)

    def judge(scores):
        return loss.compute_loss(y, np.repeat(scores[:, None], len(y), 1), weight)

    best = minimize(judge, start + 0.1, method="Nelder-Mead", options={"maxiter": 4000})
    assert judge(start) <= best.fun + 1e-12
    if not loss.has_constant_hessian or name == "squared":
        found = loss.to_prediction(own.find_start(y, weight)[:, None])
        np.testing.assert_allclose(found, loss.to_prediction(start[:, None]), 1e-4)


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - {"huber"}))
def test_leaves(name):
    """Leaves are minima; the first Newton step goes there, and many arrive."""
    loss = LOSSES[name]
    y, raw, weight = make_rows(loss)
    raw = raw * 0.3
    leaf_of_row = np.random.default_rng(1).integers(-1, 5, len(y))
    score = loss.n_scores - 1
    values = loss.compute_leaf_values(y, raw, weight, leaf_of_row, 6, score=score)
    assert values.shape == (6,)
    assert values[5] == 0.0  # no row
    moved = raw
    for _ in range(60 if name in ONE_STEP else 0):
        steps = loss.compute_leaf_values(y, moved, weight, leaf_of_row, 6, score=score)
        moved = moved.copy()
        moved[score] += np.where(leaf_of_row >= 0, steps[leaf_of_row], 0.0)
    for leaf in range(5):
        rows = leaf_of_row == leaf
        part = y[rows], np.ascontiguousarray(raw[:, rows]), weight[rows]

        def judge(step, part=part):
            return judge_leaf(loss, *part, step, score)

        best = minimize_scalar(judge, bracket=(-1.0, 1.0), options={"xtol": 1e-12})
        assert judge(values[leaf]) <= judge(0.0)
        reached = (moved - raw)[score, rows][0] if name in ONE_STEP else values[leaf]
        assert judge(reached) == pytest.approx(best.fun, abs=1e-11)


@pytest.mark.parametrize("name", LOSSES)
def test_given_sums(name):
    """Sums that somebody else has added up give the same leaves."""
    loss = LOSSES[name]
    y, raw, weight = make_rows(loss)
    leaf_of_row = np.arange(len(y)) % 3
    gradient, hessian, _ = derive(loss, y, raw, weight)
    score = loss.n_scores - 1
    sums = [
        np.array([part[score, leaf_of_row == leaf].sum() for leaf in range(3)])
        for part in (gradient, hessian)
    ]
    rows = y, raw, weight, leaf_of_row, 3
    found = loss.compute_leaf_values(
        *rows, gradient_sums=sums[0], hessian_sums=sums[1], score=score, l2=2.0
    )
    expected = loss.compute_leaf_values(*rows, score=score, l2=2.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if loss.has_newton_leaves:
        np.testing.assert_allclose(found, -sums[0] / (sums[1] + 2.0), rtol=1e-12)
    plain = loss.compute_leaf_values(*rows, score=score)
    assert loss.has_leaf_sums == bool((np.abs(found) < np.abs(plain)).all())


@pytest.mark.parametrize("power", [1.0, 1.4, 2.0])
def test_minimum_of_tweedie_leaves(power):
    loss = TweedieLoss(power=power, leaf_rule="minimum")
    y, raw, weight = make_rows(loss)
    leaf_of_row = np.zeros(len(y), dtype=int)
    (value,) = loss.compute_leaf_values(y, raw, weight, leaf_of_row, 1)
    best = minimize_scalar(lambda step: judge_leaf(loss, y, raw, weight, step))
    assert value == pytest.approx(best.x, abs=1e-6)


def test_minimum_of_a_leaf_of_zeros():
    """The logarithm of 0 is kept finite."""
    y, raw, leaf_of_row = np.zeros(4), np.ones((1, 4)), np.zeros(4, dtype=int)
    loss = PoissonLoss(leaf_rule="minimum")
    found = loss.compute_leaf_values(y, raw, None, leaf_of_row, 1)
    assert found == pytest.approx(-52 * np.log(2))
    found = ExponentialLoss().compute_leaf_values(y, raw, None, leaf_of_row, 1)
    assert found == pytest.approx(-26 * np.log(2))


def test_huber_step():
    """Friedman's rule: one step from the median, with the bound by a quantile."""
    y = np.array([0.0, 1.0, 2.0, 3.0, 40.0])
    raw, leaf_of_row = np.zeros((1, 5)), np.zeros(5, dtype=int)
    loss = HuberLoss(alpha=0.8)  # four of five residuals are at most 3
    (value,) = loss.compute_leaf_values(y, raw, None, leaf_of_row, 1)
    assert value == pytest.approx(2.0 + (-2.0 - 1.0 + 0.0 + 1.0 + 3.0) / 5)
    expected = HuberLoss(delta=3.0).compute_loss(y, raw)
    assert loss.compute_loss(y, raw) == expected
    assert loss.find_start(y) == 2.0


@pytest.mark.parametrize("name", LOSSES)
def test_weights_are_copies(name):
    loss = clone(LOSSES[name])
    if name == "huber":
        loss.set_params(delta=None, alpha=0.7)
    y, raw, _ = make_rows(loss)
    counts = np.random.default_rng(2).integers(0, 4, len(y))
    leaf_of_row = np.random.default_rng(3).integers(0, 7, len(y))
    copied = np.repeat(y, counts), np.repeat(raw, counts, axis=1), None
    weighted = y, raw, counts.astype(float)
    np.testing.assert_allclose(
        loss.find_start(copied[0]), loss.find_start(y, weighted[2]), rtol=1e-10
    )
    assert loss.compute_loss(*copied) == pytest.approx(loss.compute_loss(*weighted))
    np.testing.assert_allclose(
        loss.compute_leaf_values(*copied, np.repeat(leaf_of_row, counts), 7),
        loss.compute_leaf_values(*weighted, leaf_of_row, 7),
        rtol=1e-10,
    )


@pytest.mark.parametrize("quantile", [0.0, 0.1, 0.5, 0.75, 1.0])
def test_quantiles_with_ties(quantile):
    """The lowest of all minima."""
    loss = QuantileLoss(quantile=quantile)
    draw = np.random.default_rng(4)
    for n_rows in range(1, 30):
        y = draw.integers(0, 6, n_rows).astype(float)
        weight = draw.integers(0, 3, n_rows).astype(float)
        weight[0] = 1.0
        rows = np.sort(np.repeat(y, weight.astype(int)))
        at_most = np.searchsorted(rows, rows, "right")
        lowest = rows[np.argmax(at_most >= quantile * len(rows) - 1e-9)]
        assert loss.find_start(y, weight) == lowest


@pytest.mark.parametrize("order", ["sorted", "reversed", "equal", "organ pipe"])
def test_quantile_of_many(order):
    y = np.arange(20_001.0)
    if order == "reversed":
        y = y[::-1].copy()
    elif order == "equal":
        y = np.full(20_001, 7.0)
    elif order == "organ pipe":
        y = np.minimum(y, 20_000 - y)
    assert AbsoluteError().find_start(y) == np.median(y)


@loop_over("size", [30.0, 1e3, 1e5, 1e140])
@loop_over("dtype", [np.float32, np.float64])
@loop_over("name", LOSSES)
def test_extreme_scores(name, dtype, size):
    """Nothing becomes infinite, wherever the scores have gone."""
    loss = LOSSES[name]
    y, raw, weight = make_rows(loss)
    raw = np.ascontiguousarray(np.sign(raw) * size)
    gradient, hessian, largest = derive(loss, y, raw, weight, dtype)
    for values in (gradient, hessian, largest, loss.to_prediction(raw)):
        assert np.isfinite(values).all()
    assert (hessian >= 0).all()
    assert np.isfinite(loss.compute_loss(y, raw, weight))
    leaf_of_row = np.arange(len(y)) % 2
    assert np.isfinite(
        loss.compute_leaf_values(y, raw, weight, leaf_of_row, 2, l2=1.0)
    ).all()


def test_exponential_function():
    """As accurate as a float64 allows, from one end to the other."""
    raw = np.concatenate(
        [np.linspace(-600, 600, 20_001), np.linspace(-1, 1, 20_001), [0.0, -0.0]]
    )[None]
    found = derive(ExponentialLoss(), np.zeros(raw.shape[1]), raw)[1]
    np.testing.assert_allclose(found, np.exp(raw), rtol=4e-16)
    assert found[0, -1] == 1.0
    edge = np.log(np.sqrt(2.0) - 1.0)
    raw = np.concatenate(
        [-np.geomspace(1e-9, 600, 20_001), edge + np.linspace(-1e-9, 1e-9, 101)]
    )
    ones, y = np.zeros(1), np.zeros(1)
    for score in raw[::50]:
        ones[0] = score
        found = LogLoss().compute_loss(y, ones[None])
        assert found == pytest.approx(np.log1p(np.exp(score)), rel=4e-16)


@pytest.mark.parametrize("name", LOSSES)
def test_threads(name):
    """The number of threads changes no bit."""
    loss = LOSSES[name]
    y, raw, weight = make_rows(loss, 50_003)
    leaf_of_row = np.random.default_rng(5).integers(0, 9, len(y))
    found = []
    for n_threads in (1, 2, 5):
        gradient, hessian, largest = derive(loss, y, raw, weight, n_threads=n_threads)
        mean = loss.compute_loss(y, raw, weight, n_threads=n_threads)
        leaves = loss.compute_leaf_values(
            y, raw, weight, leaf_of_row, 9, n_threads=n_threads
        )
        found.append((gradient, hessian, largest, mean, leaves))
    for one, other in pairwise(found):
        for ours, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_metrics():
    """Up to what depends on y alone, the losses are scikit-learn's metrics."""
    y, raw, weight = make_rows(SquaredError())
    cases = [
        (SquaredError(), lambda *rows, **by: mean_squared_error(*rows, **by) / 2),
        (AbsoluteError(), mean_absolute_error),
        (
            QuantileLoss(quantile=0.3),
            lambda *rows, **by: mean_pinball_loss(*rows, alpha=0.3, **by),
        ),
    ]
    for loss, metric in cases:
        expected = metric(y, loss.to_prediction(raw), sample_weight=weight)
        assert loss.compute_loss(y, raw, weight) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        (PoissonLoss(), mean_poisson_deviance),
        (GammaLoss(), mean_gamma_deviance),
        (
            TweedieLoss(power=1.3),
            lambda *rows, **by: mean_tweedie_deviance(*rows, power=1.3, **by),
        ),
    ],
)
def test_deviances(loss, metric):
    y, raw, weight = make_rows(loss)
    y = y + 0.1
    other = raw + np.linspace(-1.0, 1.0, len(y))
    found = loss.compute_loss(y, raw, weight) - loss.compute_loss(y, other, weight)
    deviances = [
        metric(y, loss.to_prediction(scores), sample_weight=weight)
        for scores in (raw, other)
    ]
    assert found == pytest.approx((deviances[0] - deviances[1]) / 2)


@pytest.mark.parametrize("loss", [LogLoss(), MultinomialLoss(n_classes=5)])
def test_log_loss(loss):
    y, raw, weight = make_rows(loss)
    shares = loss.to_prediction(raw)
    assert shares.shape == (len(y), loss.n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    expected = log_loss(y, shares, sample_weight=weight)
    assert loss.compute_loss(y, raw, weight) == pytest.approx(expected)


def test_two_classes_either_way():
    """Two scores of which one is 0 are one score; half the log odds are the same."""
    y, raw, weight = make_rows(LogLoss())
    both = np.concatenate([np.zeros_like(raw), raw])
    two = MultinomialLoss(n_classes=2)
    shares = LogLoss().to_prediction(raw)
    np.testing.assert_allclose(two.to_prediction(both), shares)
    np.testing.assert_allclose(ExponentialLoss().to_prediction(raw / 2), shares)
    np.testing.assert_allclose(
        derive(two, y, both, weight)[0][1:], derive(LogLoss(), y, raw, weight)[0]
    )
    plain = MultinomialLoss(n_classes=2, friedman_factor=False)
    rows = y, both, weight, np.zeros(len(y), dtype=int), 1
    assert two.compute_leaf_values(*rows) == plain.compute_leaf_values(*rows) / 2


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (PoissonLoss(), [1, 2, -0.5], r"at least 0 .*'poisson', got -0.5 in row 2"),
        (PoissonLoss(), [0, 0], "got only zeros"),
        (TweedieLoss(), [1, -2], r"'tweedie', got -2.0 in row 1"),
        (GammaLoss(), [1, 0], r"above 0 .*'gamma', got 0.0 in row 1"),
        (SquaredError(), [0, np.nan], r"finite .*nan in row 1"),
        (LogLoss(), [0, 2], r"class codes 0 to 1 .*2.0 in row 1"),
        (MultinomialLoss(3), [0, 0.5], r"class codes 0 to 2 .*0.5 in row 1"),
        (SquaredError(), [], r"y must have shape \(n_rows,\)"),
        (SquaredError(), [[1.0]], r"y must have shape \(n_rows,\)"),
        (TweedieLoss(power=3.0), [1.0], "'power' parameter"),
        (TweedieLoss(leaf_rule="best"), [1.0], "'leaf_rule' parameter"),
        (QuantileLoss(quantile=1.5), [1.0], "'quantile' parameter"),
        (HuberLoss(alpha=-1.0), [1.0], "'alpha' parameter"),
        (HuberLoss(delta=-1.0), [1.0], "'delta' parameter"),
        (MultinomialLoss(n_classes=1), [0.0], "'n_classes' parameter"),
        (MultinomialLoss(friedman_factor=1), [0.0], "'friedman_factor' parameter"),
    ],
)
def test_errors(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.check_target(y)


def test_zero_weights_leave_no_mean():
    with pytest.raises(ValueError, match="got only zeros"):
        PoissonLoss().find_start(np.array([0.0, 3.0]), np.array([1.0, 0.0]))


@pytest.mark.parametrize("name", LOSSES)
def test_arrays_that_do_not_belong_together(name):
    """Wrong shapes are refused before a kernel reads beyond the end."""
    loss = LOSSES[name]
    y, raw, weight = make_rows(loss)
    short = np.empty(raw[:, 1:].shape)
    with pytest.raises(ValueError, match="gradient must have shape"):
        loss.compute_gradients(y, raw, None, short, None)
    with pytest.raises(ValueError, match="hessian must have shape"):
        loss.compute_gradients(y, raw, None, np.empty(raw.shape), short)
    with pytest.raises(ValueError, match="raw must have shape"):
        loss.compute_loss(y[1:], raw)
    with pytest.raises(ValueError, match="raw must have shape"):
        loss.compute_loss(y, np.concatenate([raw, raw]))
    with pytest.raises(ValueError, match="weight must have shape"):
        loss.compute_loss(y, raw, weight[1:])
    with pytest.raises(ValueError, match="no rows"):
        loss.compute_loss(y[:0], raw[:, :0].copy())
    with pytest.raises(ValueError, match=r"below n_nodes=4, got 4 in row 2"):
        loss.compute_leaf_values(y, raw, None, np.arange(len(y)) * 2 % 5, 4)
    with pytest.raises(ValueError, match="leaf_of_row must have shape"):
        loss.compute_leaf_values(y, raw, None, np.zeros(3, dtype=int), 4)


@pytest.mark.parametrize("code", [-1.0, 4.0, np.nan])
def test_codes_of_no_class(code):
    loss = LOSSES["multinomial"]
    y, raw, _ = make_rows(loss)
    y[7] = code
    with pytest.raises(ValueError, match=rf"class codes 0 to 3 .*{code} in row 7"):
        loss.compute_loss(y, raw)


def test_parameters_and_copies():
    loss = pickle.loads(pickle.dumps(HuberLoss(alpha=0.7)))
    assert clone(loss).set_params(delta=2.0).get_params() == {"alpha": 0.7, "delta": 2}
    assert PoissonLoss().get_params() == {"leaf_rule": "newton"}


def test_unfinished_loss():
    class Unfinished(reference.Loss):
        pass

    y, raw = np.zeros(2), np.zeros((1, 2))
    with pytest.raises(NotImplementedError, match="compute_row_losses"):
        Unfinished().compute_loss(y, raw)
    with pytest.raises(NotImplementedError, match="differentiate"):
        Unfinished().compute_gradients(y, raw, None, raw.copy(), None)


@loop_over("is_own", [False, True])
@loop_over("is_weighted", [False, True])
@loop_over("name", PAIRS)
def test_derivatives_and_loss_in_one_pass(name, is_weighted, is_own):
    loss = PAIRS[name][is_own]
    y, raw, weight = make_rows(loss, 20_000)
    weight = weight if is_weighted else None
    gradient, hessian, largest = derive(loss, y, raw, weight)
    slope, curvature = np.empty(raw.shape), np.empty(raw.shape)
    for n_threads in (1, 2):
        found = loss.compute_with_loss(y, raw, weight, slope, curvature, n_threads)
        assert found == (largest, loss.compute_loss(y, raw, weight))
        np.testing.assert_array_equal(slope, gradient)
        np.testing.assert_array_equal(curvature, hessian)
