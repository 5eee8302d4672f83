"""Voting, averaging and StackingC, and Weka's Vote, Stacking and StackingC.

Weka's members read their predictions from columns, so that both combine the same ones;
predictions of members that learn nothing are the same in every fold.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_textbook.ensemble import (
    AveragingRegressor,
    MultiResponseLinearRegression,
    StackingClassifier,
    VotingClassifier,
)
from sklearn_textbook.linear_model import LinearRegression, LogisticRegression
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.differential.j48 import require_weka, run_oracle

pytestmark = pytest.mark.slow
REGRESSION = "weka.classifiers.functions.LinearRegression"
#: Without it columns are left out whose standardized coefficients are above 1.5.
KEEP_ALL = "-S 1 -C"
WEKA_RULES = {
    "mean": "AVG",
    "product": "PROD",
    "min": "MIN",
    "max": "MAX",
}


def combine_with_weka(answers, y, runs, directory):
    """The distributions for every run, and the first line, with coefficients.

    ``answers`` has shape (n_members, n_samples, n_columns), as for our rules.
    """
    names = [f"m{i}c{j}" for i in range(len(answers)) for j in range(answers.shape[2])]
    goal = "numeric"
    if y.dtype.kind == "i":
        goal = f"{{{','.join(map(str, range(y.max() + 1)))}}}"
    head = ["@relation members", *(f"@attribute {name} numeric" for name in names)]
    rows = np.hstack(answers).tolist()
    lines = [
        ",".join(map(repr, [*row, one]))
        for row, one in zip(rows, y.tolist(), strict=True)
    ]
    table, questions, results = (directory / name for name in ("t.arff", "r", "a"))
    table.write_text("\n".join([*head, f"@attribute y {goal}", "@data", *lines, ""]))
    questions.write_text("".join(f"{name}\t{options}\n" for name, options in runs))
    run_oracle("CombineOracle", table, questions, results)
    lines = results.read_text().splitlines()
    size = len(y) + 1
    blocks = [lines[start : start + size] for start in range(0, len(lines), size)]
    return [
        (first, np.array([row.split() for row in rows], float))
        for first, *rows in blocks
    ]


def choose_columns(*numbers):
    return FunctionTransformer(lambda X: X[:, numbers])


def fit_members(load, n_columns):
    """Members that were fitted to half of a table, and the other half."""
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    first = choose_columns(*range(n_columns))
    others = choose_columns(*range(n_columns, 2 * n_columns))
    members = [
        ("tree", make_pipeline(first, CARTClassifier())),
        (
            "other",
            make_pipeline(others, CARTClassifier()),
        ),
        ("bayes", make_pipeline(first, GaussianNB())),
        ("logistic", make_pipeline(others, LogisticRegression(C=1.0))),
    ]
    return [(name, one.fit(X, y)) for name, one in members], X_test, y_test


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_rules_of_probabilities(tmp_path, load):
    require_weka()
    members, X, y = fit_members(load, 2)
    runs = [("Vote", f"-R {rule}") for rule in WEKA_RULES.values()]
    voting = VotingClassifier(members, voting="soft", prefit=True).fit(X, y)
    answers = voting.set_params(flatten_transform=False).transform(X)
    theirs = combine_with_weka(answers, y, runs, tmp_path)
    mean = voting.predict_proba(X)
    for rule, (_, given) in zip(WEKA_RULES, theirs, strict=True):
        # Where no class is possible Weka has no answer; ours is the mean.
        is_none = ~given.any(axis=1)
        assert is_none.any() == (rule in ("product", "min")), rule
        expected = np.where(is_none[:, np.newaxis], mean, given)
        voting.set_params(rule=rule)
        assert_allclose(voting.predict_proba(X), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_votes(tmp_path, load):
    require_weka()
    members, X, y = fit_members(load, 2)
    voting = VotingClassifier(members, prefit=True).fit(X, y)
    answers = np.stack([member.predict_proba(X) for _, member in members])
    runs = [("Vote", f"-R MAJ -S {seed}") for seed in range(5)]
    theirs = combine_with_weka(answers, y, runs, tmp_path)
    fractions = voting.vote_fractions(X)
    top = fractions.max(axis=1, keepdims=True)
    # A member with equal probabilities votes for all these classes in Weka.
    is_clear = ((answers == answers.max(axis=2, keepdims=True)).sum(axis=2) == 1).all(0)
    is_tie = (fractions == top).sum(axis=1) > 1
    assert (is_clear & is_tie).any()
    assert (is_clear & ~is_tie).any()
    ours = voting.predict(X)
    for _, given in theirs:
        chosen = given.argmax(axis=1)
        assert_array_equal(chosen[is_clear & ~is_tie], ours[is_clear & ~is_tie])
        # Ties are broken at random.
        rows = np.flatnonzero(is_clear & is_tie)
        assert_array_equal(fractions[rows, chosen[rows]], top[rows, 0])


def test_average_of_values(tmp_path):
    require_weka()
    X, y = load_diabetes(return_X_y=True)
    members = [
        ("line", LinearRegression().fit(X[:200], y[:200])),
        ("near", KNeighborsRegressor().fit(X[:200], y[:200])),
        ("tree", CARTRegressor(max_depth=4).fit(X[:200], y[:200])),
    ]
    averaging = AveragingRegressor(members, prefit=True).fit(X, y)
    answers = averaging.transform(X).T[:, :, np.newaxis]
    ((_, given),) = combine_with_weka(answers, y, [("Vote", "-R AVG")], tmp_path)
    assert_allclose(averaging.predict(X), given[:, 0], rtol=1e-12)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_second_learners(tmp_path, load):
    require_weka()
    members, X, y = fit_members(load, 2)
    answers = np.stack([member.predict_proba(X) for _, member in members])
    n_classes = answers.shape[2]
    via_regression = "weka.classifiers.meta.ClassificationViaRegression"
    runs = [
        ("StackingC", f'-M "{REGRESSION} {KEEP_ALL}"'),
        ("Stacking", f'-M "{via_regression} -W {REGRESSION} -- {KEEP_ALL}"'),
    ]
    theirs = combine_with_weka(answers, y, runs, tmp_path)
    for inputs, (first, given) in zip(("class", "all"), theirs, strict=True):
        final = MultiResponseLinearRegression(inputs=inputs)
        stacking = StackingClassifier(members, final, cv="prefit").fit(X, y)
        final = stacking.final_estimator_
        # Theirs have a ridge penalty of 1e-8.
        assert_allclose(stacking.predict_proba(X), given, atol=1e-6)
        if inputs == "class":
            coef = np.array([line.split() for line in first.split("\t")[:-1]], float)
            coef = coef[-len(final.coef_) :]  # of two classes the second
            assert_allclose(coef[:, :-2], final.coef_, atol=1e-5)
            assert_allclose(coef[:, -1], final.intercept_, atol=1e-5)
            assert len(coef) == (1 if n_classes == 2 else n_classes)


def test_weka_leaves_out_members_that_are_nearly_alike(tmp_path):
    """By default; we keep them, with large coefficients, as ``-C`` in Weka."""
    require_weka()
    members, X, y = fit_members(load_wine, 2)
    first = dict(members)["logistic"].predict_proba(X)
    almost = 0.99 * first + 0.01 * dict(members)["bayes"].predict_proba(X)
    answers = np.stack([first, almost])
    runs = [("StackingC", ""), ("StackingC", f'-M "{REGRESSION} {KEEP_ALL}"')]
    (left_out, _), (kept, given) = combine_with_weka(answers, y, runs, tmp_path)
    model = MultiResponseLinearRegression(inputs="class")
    model.fit(np.hstack(answers), y)
    assert_allclose(model.predict_proba(np.hstack(answers)), given, atol=1e-4)
    assert_allclose(
        np.array(kept.split("\t")[0].split(), float)[:2], model.coef_[0], rtol=1e-2
    )
    assert 0.0 in np.array(left_out.split("\t")[0].split(), float)[:2]
