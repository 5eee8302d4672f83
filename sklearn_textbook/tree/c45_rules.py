"""Rule list from a C4.5 tree, each rule generalised (C4.5rules, 规则集)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.labels import (
    check_target,
    decode_dictionary,
    encode_labels,
    require_classes,
)
from sklearn_textbook._contract.numeric_table import check_columns
from sklearn_textbook._contract.parameters import check_real, is_checked
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import apply_class_weight, check_weights
from sklearn_textbook.tree.c45 import C45Classifier
from sklearn_textbook.tree.encode.block_columns import store_blocks
from sklearn_textbook.tree.explain.lazy_rules import LazyRules
from sklearn_textbook.tree.rules import (
    build_rule_list,
    evaluate_rules,
    find_deciding_rules,
)

if TYPE_CHECKING:
    from sklearn_textbook.tree.rules.evaluate import RuleEvaluation


class C45RulesClassifier(ClassifierMixin, BaseEstimator):
    r"""Ordered list of if-then rules derived from an unpruned C4.5 tree (C4.5rules).

    In a tree, the same subtree may occur in several places, and the tests near the root
    are part of every path. A list of rules avoids both: each path is generalised as far
    as the training rows allow, and only a subset of the resulting rules is kept.

    1. *Paths.* Each path of an unpruned :class:`C45Classifier` to a leaf with
       training rows becomes a rule that predicts the majority class of the leaf.
    2. *Generalising.* A rule that covers rows of weight N, E of them of other
       classes, has the pessimistic error rate

       .. math:: U(E, N) = \frac{E + \mathrm{add}(E, N)}{N},

       the upper confidence limit of the error rate at level ``confidence``, computed
       with the same approximation as in the pruning of the tree: for
       E = 0 it is :math:`1 - CF^{1/N}`, for :math:`1 \le E < N - \tfrac12`

       .. math::

           \frac{f + \frac{z^2}{2N} + z\sqrt{\frac fN - \frac{f^2}N
           + \frac{z^2}{4N^2}}}{1 + \frac{z^2}N}, \qquad f = \frac{E + 0.5}{N},
           \quad \Phi(z) = 1 - CF,

       between the two for 0 < E < 1, and 1 for larger E. As long as dropping a
       condition does not increase the rate, the condition whose removal gives the
       lowest rate is dropped. Duplicate rules are removed, and so are rules whose rate
       is not below the proportion of the other classes in the table.
    3. *Choosing.* For every class, the subset R of its rules with the minimum
       description length, in bits, is chosen:

       .. math::

           \tfrac12 \Big(\sum_{i \in R} c_i - \log_2 |R|!\Big)
           + \log_2 \binom{r}{f} + \log_2 \binom{n - r}{m - r + f}

       where the rules cover rows of weight r, f of which are of other classes, and n
       and m are the weights of the table and of the class. The cost :math:`c_i` of a
       rule with k conditions is the sum of their bits minus :math:`\log_2 k!`. A
       condition costs :math:`\log_2 d` bits for its column, one of d, plus
       :math:`1 + \log_2 v` for one side of one of v possible thresholds, or the entropy
       of the column for one of its levels (1 more for all levels but one; one bit per
       level for any other set). Up to 10 rules, all subsets are tried; for more, rules
       are added and deleted greedily, one at a time, starting from no rule and from all
       rules.
    4. *Order.* The rules of the class that cover the fewest rows of other classes come
       first, then those of the class with the fewest such rows among the rows not yet
       covered, and so on. Within a class, rules are sorted by increasing U.
    5. *Default.* Rows that no rule covers are assigned the class with the most
       uncovered training rows; ties go to the more frequent class.
    6. *Polishing.* As long as removing a rule reduces the training errors, it is
       removed and the default class is chosen again.

    The first rule that covers a row determines its class. Missing values, and levels
    not seen in training, satisfy no condition, neither in training nor in prediction.

    Parameters
    ----------
    confidence : float, default=0.25
        Probability that the true error rate of a rule exceeds its pessimistic estimate;
        smaller values give more general rules. Above 0.5, nothing is added to E.
    significance : float, default=None
        If given, conditions whose p-value in a one-sided Fisher's exact test of
        independence from the class exceeds it are also dropped, the largest p-value
        first. None: no test is made.
        first. None: no such test.
    gain_ratio_rule : {"above_average", "plain"}, default="above_average"
        As in :class:`C45Classifier`, like all following parameters.
    mdl_correction : bool, default=True
        Whether to reduce the gain of numeric tests for the choice of the threshold.
    threshold : {"observed", "midpoint"}, default="observed"
        Position of thresholds.
    categorical_split : {"multiway", "one_vs_rest", "subset"}, default="multiway"
        How a nominal column divides its levels.
    max_depth : int, default=None
        Maximum depth of the tree, and hence maximum length of a path. None: no limit.
    min_samples_leaf : int or float, default=2
        Minimum weight (not number) of cases in at least two branches of a test; a float
        is a fraction of the total weight.
    class_weight : dict or "balanced", default=None
        Weight of each class, multiplied with the sample weights.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or given by a mask, indices or names. By dtype,
        strings and unordered categories are nominal, ordered categories and polars Enum
        columns are ordinal, and objects are nominal unless all are numbers, booleans or
        dates.
    n_jobs : int, default=None
        Number of threads. None: one per core, or fewer inside a parallel call. The
        rules do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    default_class_ : object
        Class of the rows that no rule covers.
    n_rules_ : int
        Number of rules, not counting the default.
    rules_ : sequence of dict
        The rules in order, followed by the default rule, which has no conditions; see
        :func:`export_rules` for their keys and for other formats.
    rule_list_ : RuleList
        The rules as arrays.
    tree_estimator_ : C45Classifier
        The fitted tree from which the rules are derived.
    schema_ : TableSchema
        Kinds, names and levels of the columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    See Also
    --------
    C45Classifier : The corresponding tree.
    export_rules : The rules as text, data frame, SQL or Python code.

    Notes
    -----
    Differences from the program C4.5rules: for large classes, C4.5rules searches from
    random subsets or by simulated annealing, so its result depends on a seed; some of
    its costs differ in detail. A weight counts as that many copies of the row.

    Generalising scans all n rows, 64 at a time, for every condition that it drops: L
    paths of k conditions take up to L k² n / 64 steps, usually far fewer. Choosing
    among R rules of one class takes about R² steps.

    References
    ----------
    .. [1] J. R. Quinlan (1993), C4.5: Programs for Machine Learning, chapter 5.
    .. [2] J. R. Quinlan (1987), Generating Production Rules from Decision Trees.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_play_tennis
    >>> from sklearn_textbook.tree import C45RulesClassifier, export_rules
    >>> golf = load_play_tennis(version="golf", as_frame=True)
    >>> model = C45RulesClassifier().fit(golf.data, golf.target)
    >>> print(export_rules(model), end="")
    IF outlook = overcast THEN yes [support 28.6% (4 rows), confidence 83.3%]
    ELSE IF outlook = sunny AND humidity > 75 THEN no [support 21.4% (3 rows), ...]
    ELSE IF outlook = rain AND windy = true THEN no [support 14.3% (2 rows), ...]
    ELSE yes [support 35.7% (5 rows), confidence 85.7%]
    >>> print(model.evaluate(golf.data, golf.target))
    Rule  Size  Error  Used     Wrong  Advantage  Class
    ----  ----  -----  ----  --------  ---------  -----
       0     1  29.3%     4  0 (0.0%)    0 (0|0)  yes
       1     2  37.0%     3  0 (0.0%)    3 (3|0)  no
       2     2  50.0%     2  0 (0.0%)    2 (2|0)  no
    <BLANKLINE>
    Default class yes: used 5, wrong 0
    Tested 14, errors 0 (0.0%)
    <BLANKLINE>
    (a)  (b)  <- classified as
      5       (a): class no
           9  (b): class yes
    """

    _store_blocks = store_blocks

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        significance: float | None = None,
        gain_ratio_rule: str = "above_average",
        mdl_correction: bool = True,
        threshold: str = "observed",
        categorical_split: str = "multiway",
        max_depth: int | None = None,
        min_samples_leaf: float = 2,
        class_weight: dict[Any, float] | str | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.confidence = confidence
        self.significance = significance
        self.gain_ratio_rule = gain_ratio_rule
        self.mdl_correction = mdl_correction
        self.threshold = threshold
        self.categorical_split = categorical_split
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Grow the tree and derive the rules.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight 0 are ignored, but their classes remain
            in ``classes_``, and their levels in the schema.

        Returns
        -------
        self : C45RulesClassifier
            The fitted estimator.
        """
        self._check_parameters()
        if y is None:
            # scikit-learn raises its usual message.
            validate_data(self, X, y, skip_check_array=True)
        require_classes(y)
        y = column_or_1d(decode_dictionary(y), warn=True)
        self.tree_estimator_ = self._make_tree_estimator()
        self.tree_estimator_.fit(X, y, sample_weight=sample_weight)
        check_columns(self, X, y)
        self.schema_ = self.tree_estimator_.schema_
        y = check_target(y, is_numeric=False)
        (self.classes_,), codes = encode_labels(y)
        weight = check_weights(sample_weight, len(y))
        self.rule_list_ = build_rule_list(
            self.tree_estimator_.tree_,
            self.schema_,
            X,
            codes[:, 0],
            apply_class_weight(self.class_weight, y[:, 0], weight),
            self.confidence,
            self.significance,
            count_threads(self.n_jobs, y.shape[0] * self.n_features_in_),
        )
        self.n_rules_ = len(self.rule_list_)
        self.default_class_ = self.classes_[self.rule_list_.rule_class[-1]]
        return self

    def _check_parameters(self) -> None:
        check_real("confidence", self.confidence, 0.0, 1.0)
        if self.significance is not None:
            check_real("significance", self.significance, 0.0, 1.0)
        if is_checked() and self.confidence in (0.0, 1.0):
            raise ValueError(
                "The 'confidence' parameter must lie between 0 and 1, both excluded; "
                f"got {self.confidence!r}."
            )

    def _make_tree_estimator(self):
        """Make the tree from whose paths the rules are derived."""
        return C45Classifier(
            pruning=None,
            gain_ratio_rule=self.gain_ratio_rule,
            mdl_correction=self.mdl_correction,
            threshold=self.threshold,
            categorical_split=self.categorical_split,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            class_weight=self.class_weight,
            categorical_features=self.categorical_features,
            n_jobs=self.n_jobs,
        )

    # ------------------------------------------------------------ public methods
    def apply(self, X: MatrixLike) -> np.ndarray:
        """Return the index of the first rule that covers each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        rules : ndarray of int64, shape (n_samples,)
            Indices into ``rules_``; -1 for the default.
        """
        return self._find_rules(X, 1)[0]

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the class of the first rule that covers each row, or the default.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        rules = self.apply(X)
        return self.classes_.take(self.rule_list_.rule_class[rules])

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        r"""Predict class probabilities from the training rows of the deciding rule.

        They are estimated by Laplace's rule, :math:`(n_k + 1) / (n + K)`, where K is
        the number of classes, n the weight of the training rows for which the rule is
        the first to match (or, if there are none, of those it covers), and :math:`n_k`
        the weight of class k among them, which for other classes is capped at that of
        the class of the rule.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        rules = self.apply(X)
        return self.rule_list_.shares[rules]

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict class log-probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            Natural logarithms of the probabilities, which are never 0.
        """
        return np.log(self.predict_proba(X))

    def evaluate(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RuleEvaluation:
        """Evaluate each rule on rows with known classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        evaluation : RuleEvaluation
            Size, error rate, use, errors and advantage of every rule, and the confusion
            matrix; ``print`` shows both as tables. A row whose class is unknown to the
            model counts as an error; such classes have their own rows in the matrix.

        Raises
        ------
        ValueError
            If no label in ``y`` is a class of the model (for example "0" instead of 0),
            or X and y have different numbers of rows.
        """
        first, second = self._find_rules(X, 2)
        require_classes(y)
        y = column_or_1d(decode_dictionary(y), warn=True)
        y = check_target(y, is_numeric=False)[:, 0]
        if len(y) != len(first):
            raise ValueError(
                f"y must have one class per row of X: it has {len(y)}, X has "
                f"{len(first)} rows."
            )
        weight = check_weights(sample_weight, len(first))
        return evaluate_rules(self.rule_list_, first, second, y, self.classes_, weight)

    @property
    def rules_(self) -> LazyRules:
        """The rules in order, as a sequence of dictionaries.

        Computed on first access; see :func:`~sklearn_textbook.tree.export_rules` for
        other formats.
        """
        check_is_fitted(self)
        return LazyRules(self.rule_list_, self.schema_, self.classes_)

    def _find_rules(self, X, n_found):
        """Return the index of the first rule that covers each row, or -1."""
        check_is_fitted(self)
        check_columns(self, X, reset=False)
        parts = []
        for _, matrix in self.schema_.read_blocks(X):
            n_threads = count_threads(self.n_jobs, matrix.size)
            found = [find_deciding_rules(self.rule_list_, matrix, n_threads=n_threads)]
            for _ in range(n_found - 1):
                found.append(
                    find_deciding_rules(self.rule_list_, matrix, found[-1], n_threads)
                )
            parts.append(found)
        return [np.concatenate(found) for found in zip(*parts, strict=True)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
