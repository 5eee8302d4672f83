"""All measures of diversity of a fitted ensemble in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.labels import check_target, encode_known_labels
from sklearn_textbook._contract.table import Table
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.diversity.group import measure_group
from sklearn_textbook.ensemble.diversity.members import predict_codes
from sklearn_textbook.ensemble.diversity.pair_tables import PairTables, list_pairs
from sklearn_textbook.ensemble.diversity.predictions import (
    MemberCodes,
    read_predictions_and_correctness,
)

#: Measures of pairs, in the order of the tables.
PAIR_MEASURES = ("disagreement", "correlation", "q_statistic", "double_fault", "kappa")


@dataclass(frozen=True, eq=False)
class DiversityReport:
    """Diversity of the members of an ensemble, as measured by :func:`diversity_report`.

    Disagreement, correlation, Q and double fault are those of right and wrong
    predictions; kappa is that of the predictions, as in the kappa-error diagram. The
    printed report is at most 80 columns wide.

    Parameters
    ----------
    name : str
        Name of what was measured: the class of the ensemble, or "predictions".
    n_samples : int
        Number of rows, without rows of weight 0.
    is_weighted : bool
        Whether the rows have weights.
    members : Table
        One row per member: its number ``member``, its ``error``, and the means of
        ``disagreement``, ``correlation``, ``q_statistic``, ``double_fault`` and
        ``kappa`` over its pairs with the others.
    pairwise : Table
        One row per pair: the numbers ``first`` and ``second``, the mean ``error`` of
        the two, and the five measures.
    group : Table
        Columns ``measure`` and ``value``: ``mean_error`` of the members, ``vote_error``
        of the plurality vote (ties go to the first class), and the measures for all
        members together: ``entropy`` of right and wrong predictions, ``vote_entropy``,
        ``kohavi_wolpert_variance``, ``interrater_agreement``,
        ``generalized_diversity``, ``coincident_failure_diversity`` and ``difficulty``.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import diversity_report
    >>> predictions = [[1, 1, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1]]
    >>> report = diversity_report(predictions, None, [1, 1, 0, 0])
    >>> report.pairwise
     first  second  error  disagreement  correlation  q_statistic  double_fault  kappa
         0       1  0.125          0.25            0            0             0    0.5
         0       2   0.25           0.5            0            0             0      0
         1       2  0.375          0.75    -0.57735           -1             0   -0.5
    >>> report.get("vote_error")
    0.0
    """

    name: str
    n_samples: int
    is_weighted: bool
    members: Table
    pairwise: Table
    group: Table

    @property
    def n_members(self) -> int:
        """Number of members."""
        return self.members.n_rows

    def get(self, measure: str) -> float:
        """Return the value of a measure for all members together.

        Parameters
        ----------
        measure : str
            Name of the measure in ``group``.

        Returns
        -------
        value : float
            Value of the measure.

        Raises
        ------
        KeyError
            If there is no measure of this name.
        """
        values = dict(
            zip(self.group["measure"].tolist(), self.group["value"], strict=True)
        )
        return float(values[measure])

    def summarize_pairs(self) -> Table:
        """Summarize the measures over the pairs.

        Returns
        -------
        summary : Table
            Columns ``measure``, ``mean``, ``smallest`` and ``largest``.
        """
        columns = [self.pairwise[name] for name in PAIR_MEASURES]
        return Table(
            measure=PAIR_MEASURES,
            mean=[column.mean() for column in columns],
            smallest=[column.min() for column in columns],
            largest=[column.max() for column in columns],
        )

    def __str__(self):
        """Write the measures of all members and a summary of those of pairs."""
        weighted = " with weights" if self.is_weighted else ""
        return "\n".join(
            [
                f"Diversity of {self.name}",
                f"{self.n_members:,} members on {self.n_samples:,} rows{weighted}",
                "",
                f"All members\n{self.group}",
                "",
                f"{self.pairwise.n_rows:,} pairs\n{self.summarize_pairs()}",
            ]
        )

    def __repr__(self):
        return str(self)


def diversity_report(
    ensemble: Any, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> DiversityReport:
    """Measure the diversity of the members of a fitted ensemble.

    Parameters
    ----------
    ensemble : estimator, sequence of estimator, or array-like
        A fitted ensemble of classifiers, as for :func:`predict_members`; fitted
        classifiers; or, with ``X=None``, predictions of shape (n_samples, n_members).
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows, or None. Rows not used in the fit are more informative.
    y : array-like of shape (n_samples,)
        True labels of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    report : DiversityReport
        Tables for the members, for the pairs and for all members together.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the ensemble is not fitted.
    ValueError
        If the members do not predict classes, as in gradient boosting, if there are
        fewer than two, or if ``y`` has a class that the ensemble does not know.

    See Also
    --------
    sklearn_textbook.inspection.KappaErrorDisplay : Plots kappa against error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import RandomForestClassifier
    >>> from sklearn_textbook.ensemble.diversity import diversity_report
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0)
    >>> report = diversity_report(forest.fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> report.n_members, report.pairwise.n_rows
    (20, 190)
    >>> list(report.members)[:3]
    ['member', 'error', 'disagreement']
    """
    if X is None:
        name = "predictions"
        predicted, right = read_predictions_and_correctness(y, ensemble, sample_weight)
    else:
        name = type(ensemble).__name__
        if isinstance(ensemble, (list, tuple)):
            name = "classifiers"
        predicted, right = _predict_all(ensemble, X, y, sample_weight)
    pairs = list_pairs(len(predicted.codes))
    of_right = PairTables(right)
    measures = {
        "disagreement": of_right.disagreement(),
        "correlation": of_right.correlation(),
        "q_statistic": of_right.q_statistic(),
        "double_fault": of_right.double_fault(),
        "kappa": PairTables(predicted).kappa(),
    }
    errors = 1.0 - right.average(right.codes)
    n_members = len(errors)
    means = {
        name: (values.sum(axis=1) - np.diag(values)) / (n_members - 1)
        for name, values in measures.items()
    }
    group = {
        "mean_error": errors.mean(),
        "vote_error": _measure_vote(predicted, right),
        **measure_group(predicted, right),
    }
    return DiversityReport(
        name=name,
        n_samples=predicted.codes.shape[1],
        is_weighted=predicted.weight is not None,
        members=Table(member=np.arange(n_members), error=errors, **means),
        pairwise=Table(
            first=pairs[0],
            second=pairs[1],
            error=of_right.mean_errors()[pairs],
            **{name: values[pairs] for name, values in measures.items()},
        ),
        group=Table(measure=list(group), value=list(group.values())),
    )


def _predict_all(ensemble, X, y, sample_weight):
    """Predict by the members, and compare the predictions with the labels."""
    codes, classes = predict_codes(ensemble, X)
    y = check_target(y, is_numeric=False)
    n_rows = codes.shape[1]
    if y.shape != (n_rows, 1):
        raise ValueError(
            f"y must have one label per row of X, {n_rows} in all; got shape "
            f"{y.shape[:1] if y.shape[1] == 1 else y.shape}."
        )
    known = encode_known_labels(y, [classes])[:, 0]
    weight = check_weights(sample_weight, n_rows)
    if weight is not None:
        is_used = weight > 0
        codes, known, weight = codes[:, is_used], known[is_used], weight[is_used]
    predicted = MemberCodes(codes, classes, weight)
    return predicted, predicted.compare_with(known)


def _measure_vote(predicted, right) -> float:
    """Error of the plurality vote, the first of equal classes."""
    n_rows = predicted.codes.shape[1]
    votes = np.zeros(n_rows, np.int64)
    chosen = np.zeros(n_rows, np.int64)
    for number in range(len(predicted.classes)):
        of_class = (predicted.codes == number).sum(axis=0)
        is_more = of_class > votes
        votes[is_more], chosen[is_more] = of_class[is_more], number
    # The vote is right where a member who voted so is.
    voter = (predicted.codes == chosen).argmax(axis=0)
    return float(1.0 - right.average(right.codes[voter, np.arange(n_rows)]))
