"""The compiled loops of maximum entropy beside plain Python, round by round."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_textbook.linear_model import MaxEntClassifier
from sklearn_textbook.linear_model.maximum_entropy import expectation
from sklearn_textbook.linear_model.maximum_entropy.expectation import EntropyProblem
from sklearn_textbook.linear_model.maximum_entropy.fitting import minimize
from sklearn_textbook.linear_model.maximum_entropy.iterative_scaling import (
    ScalingSteps,
    scale_iteratively,
)
from sklearn_textbook.linear_model.maximum_entropy.joint_features import (
    find_boundaries,
    find_column_boundaries,
    shift_to_nonnegative,
    split_blocks,
)
from sklearn_textbook.linear_model.solve.quasi_newton import minimize_bfgs
from tests.linear_model.entropy_cases import (
    expand,
    join,
    make_pairs,
    make_shared,
    share,
)
from tests.loops import loop_over
from tests.reference import maximum_entropy as reference

N_ROUNDS = 4


def make_problem(features, counts, penalty=None, n_jobs=1):
    return EntropyProblem(
        features, counts.sum(axis=1), counts, penalty=penalty, n_jobs=n_jobs
    )


def compare_rounds(features, values, counts, penalty, is_generalized):
    rounds = reference.scale_iteratively(
        values.tolist(), counts.tolist(), penalty, N_ROUNDS, is_generalized
    )
    problem = make_problem(features, counts, np.array(penalty))
    start = np.zeros(features.n_features)
    for n_rounds, (weights, loss) in enumerate(rounds, start=1):
        solution = scale_iteratively(
            problem, start, n_rounds, 0.0, is_generalized=is_generalized
        )
        assert_allclose(solution.weights, weights, rtol=1e-9, atol=1e-9)
        assert_allclose(solution.loss_path[-1], loss, rtol=1e-11)
    return problem


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("is_generalized", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "counts", "constant"])
@loop_over("seed", [0, 1])
def test_rounds_of_pairs(seed, kind, is_generalized, alpha):
    values, counts = make_pairs(seed, kind=kind)
    penalty = [alpha, 0.0, alpha, alpha / 2]
    compare_rounds(join(values), values, counts, penalty, is_generalized)


@pytest.mark.parametrize("is_generalized", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "sparse", "counts"])
def test_rounds_of_columns(kind, is_generalized):
    matrix, counts = make_shared(3, 10, kind=kind)
    features = share(matrix, 3)
    assert features.is_sparse == (kind == "sparse")
    values = expand(matrix, 3)
    compare_rounds(features, values, counts, [0.3] * 12, is_generalized)


def test_ways_to_the_steps():
    """One size, sums by size, and sums entry by entry are all taken above."""
    ways = {}
    for kind in ("constant", "counts", "numbers"):
        values, counts = make_pairs(0, 80, kind=kind)
        steps = ScalingSteps(make_problem(join(values), counts), False)
        ways[kind] = (steps.n_buckets > 1, steps.columns is not None)
    assert ways == {
        "constant": (False, False),
        "counts": (True, False),
        "numbers": (False, True),
    }


def test_entries_and_buckets_take_the_same_steps(monkeypatch):
    values, counts = make_pairs(5, 50, kind="counts")
    problem = make_problem(join(values), counts)
    by_bucket = scale_iteratively(problem, np.zeros(4), 8, 0.0)
    module = "sklearn_textbook.linear_model.maximum_entropy.iterative_scaling"
    monkeypatch.setattr(f"{module}.MAX_BUCKETS", 1)
    by_entry = scale_iteratively(problem, np.zeros(4), 8, 0.0)
    assert_allclose(by_entry.weights, by_bucket.weights, rtol=1e-11)


def test_feature_that_never_occurs():
    """Its weight falls for ever, by a tenth of its expectation in each round."""
    values, counts = make_pairs(2, kind="counts")
    values[:, :, 1] = 0.0
    values[:, 2, 1] = 2.0
    counts[:, 2] = 0.0
    penalty = [0.0] * 4
    problem = compare_rounds(join(values), values, counts, penalty, False)
    solution = scale_iteratively(problem, np.zeros(4), 5_000, 1e-7)
    assert solution.has_converged
    assert solution.expected[1] <= 1e-7 * problem.total
    assert -20 < solution.weights[1] < -6  # no further than it has to
    falls, rises = find_boundaries(split_blocks(problem.features), counts)
    assert_array_equal(falls, [False, True, False, False])
    assert not rises.any()


def test_penalty_of_a_feature_that_never_occurs():
    values, counts = make_pairs(2, kind="numbers")
    values[:, 2, 1] = 1.0
    values[:, :2, 1] = 0.0
    counts[:, 2] = 0.0
    compare_rounds(join(values), values, counts, [0.1] * 4, False)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_solvers_agree(alpha):
    values, counts = make_pairs(7, 40)
    problem = make_problem(join(values), counts, np.full(4, alpha))
    scaled = [
        scale_iteratively(problem, np.zeros(4), 20_000, 1e-10, is_generalized=g)
        for g in (False, True)
    ]
    minimized = [
        minimize(problem, np.zeros(4), 200, 1e-10, has_limited_memory=m)
        for m in (False, True)
    ]
    for solution in (*scaled, *minimized):
        assert solution.has_converged
        assert_allclose(solution.weights, minimized[0].weights, atol=1e-7)
        assert solution.gap <= 1e-10
    for solution in scaled:
        assert np.diff(solution.loss_path).max() <= 1e-12 * solution.loss_path[0]
    assert scaled[0].n_iter < scaled[1].n_iter
    assert minimized[0].n_iter < 30


@loop_over("seed", range(4))
@pytest.mark.parametrize("kind", ["numbers", "counts", "constant"])
def test_scaling_never_loses(kind, seed):
    values, counts = make_pairs(seed + 20, 60, kind=kind)
    problem = make_problem(join(values), counts)
    for is_generalized in (False, True):
        path = scale_iteratively(
            problem, np.zeros(4), 300, 0.0, is_generalized=is_generalized
        ).loss_path
        assert len(path) == 301
        assert path[50] < path[0]
        assert np.diff(path).max() <= 1e-13 * path[0]


def test_gradient_is_the_slope_of_the_loss():
    values, counts = make_pairs(9)
    problem = make_problem(join(values), counts, np.array([0.0, 1.0, 2.0, 0.5]))
    weights, h = np.array([0.3, -0.8, 1.1, 0.2]), 1e-5
    _, expected = problem.evaluate(weights)
    gradient = problem.find_gradient(weights, expected[0])
    for j, unit in enumerate(np.eye(4)):
        above = problem.evaluate(weights + h * unit)[0]
        below = problem.evaluate(weights - h * unit)[0]
        assert_allclose(gradient[j], (above - below) / (2 * h), rtol=1e-7)


def test_expectations_of_plain_python():
    matrix, counts = make_shared(4, 30, kind="sparse")
    values, weights = expand(matrix, 3).tolist(), np.linspace(-2, 2, 12)
    problem = make_problem(share(matrix, 3), counts)
    loss, (expected,) = problem.evaluate(weights)
    shares = reference.compute_probabilities(values, weights)
    assert_allclose(problem.probabilities, shares, rtol=1e-13)
    assert_allclose(loss, reference.compute_loss(values, counts.tolist(), weights))
    amounts = reference.spread_rows(counts.tolist(), shares)
    for j in range(12):
        sums = reference.sum_features(values, amounts, j)
        assert_allclose(expected[j], sums, rtol=1e-13, atol=1e-13)


def test_scores_too_large_for_exponentials():
    matrix, counts = make_shared(4, 30)
    problem = make_problem(share(matrix, 3), counts)
    loss, expected = problem.evaluate(np.linspace(-1e5, 1e5, 12))
    assert np.isfinite(loss)
    assert np.isfinite(expected).all()
    assert_allclose(problem.probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("is_joint", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_threads_give_the_same_bits(monkeypatch, is_sparse, is_joint):
    monkeypatch.setattr(expectation, "CONTEXTS_PER_BLOCK", 8)
    monkeypatch.setattr(expectation, "count_threads", lambda n_jobs, n_cells: n_jobs)
    matrix, counts = make_shared(6, 300, kind="sparse" if is_sparse else "numbers")
    features = join(expand(matrix, 3)) if is_joint else share(matrix, 3)
    assert features.is_sparse == (is_sparse or is_joint)
    answers = []
    for n_threads in (1, 2, 7):
        problem = make_problem(features, counts, n_jobs=n_threads)
        assert problem.n_threads == n_threads
        weights = scale_iteratively(problem, np.zeros(12), 5, 0.0).weights
        answers.append((weights, *problem.evaluate(weights)))
    for weights, loss, expected in answers[1:]:
        assert_array_equal(weights, answers[0][0])
        assert loss == answers[0][1]
        assert_array_equal(expected, answers[0][2])


def test_shift_keeps_the_model():
    values, counts = make_pairs(8)
    values -= 0.4
    features, shift = shift_to_nonnegative(join(values))
    assert features.values.min() >= 0.0
    assert shift.shape == (12, 4)
    weights = np.array([1.0, -2.0, 0.5, 0.1])
    one, other = make_problem(join(values), counts), make_problem(features, counts)
    assert_allclose(one.evaluate(weights)[0], other.evaluate(weights)[0], rtol=1e-13)
    assert_allclose(one.probabilities, other.probabilities, rtol=1e-12)
    plain = join(values + 0.4)
    assert shift_to_nonnegative(plain) == (plain, None)


def test_shift_of_sparse_features():
    """Only a few entries are negative; those of other classes take the difference."""
    matrix, _ = make_shared(6, 20, kind="sparse")
    matrix[matrix > 0.7] *= -1.0
    dense = expand(matrix, 3)
    shifted, _ = shift_to_nonnegative(share(matrix, 3))
    expected = dense - np.minimum(dense.min(axis=1, keepdims=True), 0.0)
    joined = np.stack([np.asarray(b.todense()) for b in split_blocks(shifted)], axis=1)
    assert_allclose(joined, expected)


def test_boundaries_of_columns():
    """The same by blocks as by columns; of both signs."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 60)
    matrix = random.normal(size=(60, 5))
    matrix[:, 0] = codes == 1
    matrix[:, 1] = np.abs(matrix[:, 1]) * (codes != 2)
    matrix[:, 2] = -np.abs(matrix[:, 2]) * (codes == 0)
    counts = np.eye(3)[codes]
    falls, rises = find_column_boundaries(matrix, counts)
    names = [(0, 0), (0, 2), (1, 2), (2, 0)]
    assert np.argwhere(falls.reshape(5, 3)).tolist() == [list(n) for n in names]
    assert np.argwhere(rises.reshape(5, 3)).tolist() == [[0, 1], [2, 1], [2, 2]]
    blocks = split_blocks(share(matrix, 3))
    for one, other in zip(find_boundaries(blocks, counts), (falls, rises), strict=True):
        assert_array_equal(one, other)
    csr = sparse.csr_array(matrix)
    assert_array_equal(find_column_boundaries(csr, counts)[0], falls)


def test_equal_contexts_are_found():
    matrix = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [1.0, 2.0], [0.0, 2.0]])
    leaders, group = share(matrix, 2).group_contexts()
    assert leaders.tolist() == [0, 1, 3]
    assert group.tolist() == [0, 1, 0, 2, 1]
    values = np.array([[[1.0, 0], [0, 0]], [[0, 0], [1.0, 0]], [[1.0, 0], [0, 0]]])
    assert join(values).group_contexts()[1].tolist() == [0, 1, 0]
    assert share(np.eye(3), 2).group_contexts() == (None, None)


@pytest.mark.parametrize("limit", [1, 3, 6])
def test_steps_of_bfgs(limit):
    """Steps are along minus G times the gradient, with G as the formula writes it."""
    hessian = np.diag([1.0, 3.0, 0.2, 5.0]) + 0.1
    path = [np.array([1.0, -2.0, 0.5, 3.0])]

    def evaluate(x):
        return 0.5 * float(x @ hessian @ x), hessian @ x

    def report(x, loss):
        path.append(x)
        assert_allclose(loss, evaluate(x)[0])

    found = minimize_bfgs(evaluate, path[0], limit, 1e-12, report)
    assert (len(found.path), found.reason) == (limit + 1, "iterations")
    matrix = np.eye(4)
    for number, (x, moved) in enumerate(itertools.pairwise(path)):
        step, direction = moved - x, -matrix @ hessian @ x
        share = (step @ direction) / (direction @ direction)
        assert 0.0 < share <= 1.0 + 1e-9
        assert_allclose(step, share * direction, rtol=1e-8, atol=1e-11)
        change = hessian @ step
        if number == 0:
            matrix = np.eye(4) * (step @ change) / (change @ change)
        matrix = reference.update_inverse(matrix, step, change)
        assert_allclose(matrix @ change, step, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("max_iter", "is_enough"), [(1, False), (1000, True)])
def test_converged(max_iter, is_enough):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + np.random.default_rng(1).normal(size=60) > 0
    model = MaxEntClassifier(max_iter=max_iter).fit(X, y)
    assert model.converged_ is is_enough
    pairs = [{"A", "B"}, {"A", "C"}]
    model = MaxEntClassifier.from_constraints(
        "ABCDE", pairs, [0.3, 0.5], max_iter=max_iter
    )
    assert model.converged_ is is_enough
