"""Output codes: several classes learned as many binary problems, 纠错输出码."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import check_consistent_length, column_or_1d, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
)
from sklearn.utils.validation import validate_data

from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.labels import (
    check_target,
    decode_dictionary,
    encode_labels,
)
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_estimator,
    check_random_seed,
    check_verbose,
    is_checked,
    is_real,
    show_value,
)
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.scoring import ClassifierMixin
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.members.estimator_members import (
    consumes_weight,
    read_table,
    route_parameters,
)
from sklearn_textbook.ensemble.members.member_list import (
    MemberList,
    yield_until_stopped,
)
from sklearn_textbook.ensemble.output_codes.code_matrices import (
    FIXED_CODES,
    RANDOM_CODES,
    compute_column_separation,
    compute_row_separation,
    make_code,
    read_code,
)
from sklearn_textbook.ensemble.output_codes.code_members import (
    BinaryProblems,
    CodedEstimators,
    CodedTrees,
    can_share_table,
    choose_method,
)
from sklearn_textbook.ensemble.output_codes.code_predictions import (
    DECODINGS,
    CodePredictions,
)
from sklearn_textbook.ensemble.output_codes.decoding import LOSSES
from sklearn_textbook.ensemble.resample import draw_seeds
from sklearn_textbook.tree import CARTClassifier
from sklearn_textbook.tree.members import store_blocks

#: Columns that are compared with each other: each with all others.
MOST_COMPARED = 5000


class OutputCodeClassifier(
    MemberList,
    CodePredictions,
    CallbackSupportMixin,
    MetaEstimatorMixin,
    ClassifierMixin,
    BaseEstimator,
):
    r"""Multiclass classification by many binary problems, 纠错输出码 (ECOC).

    The coding matrix M (编码矩阵) of an error-correcting output code has a row per
    class and a column per binary problem. The member of column b is trained to separate
    the classes r with :math:`M_{rb} = +1` from those with :math:`M_{rb} = -1`; rows of
    classes with :math:`M_{rb} = 0` (停用类) are left out. For a new row, the outputs of
    the members are compared with the rows of M, and the closest class is predicted, so
    that mistakes of a few members are corrected. If :math:`d` is the smallest distance
    of two rows, ``row_separation_``, a code without zeros corrects up to :math:`\lfloor
    (d - 1) / 2 \rfloor` mistakes.

    Parameters
    ----------
    estimator : classifier, default=None
        Base estimator of the members. None: a fully grown
        :class:`~sklearn_textbook.tree.CARTClassifier`. Trees of this package share one
        encoded table; any scikit-learn classifier is allowed. Members are fitted to the
        classes 1, for +1, and 0, for -1.
    code : str or array-like of shape (n_classes, n_columns), default="dense_random"
        The coding matrix.

        - "dense_random": +1 and -1 with equal probability; "sparse_random": 0 with
          probability 1/2, +1 and -1 with probability 1/4 each. No two columns are equal
          or complementary, every column has both signs, and no two rows are equal. Of
          up to 100 such codes, the one with the largest row separation is used; ties
          are broken by the largest column separation.
        - "one_vs_rest" (一对其余): each class against the rest.
        - "one_vs_one" (一对一): each pair of classes, n (n - 1) / 2 columns.
        - "exhaustive": all :math:`2^{n - 1} - 1` divisions of the n classes into two
          sides, in the order of Dietterich and Bakiri [1]_; up to 11 classes. The row
          separation is :math:`2^{n - 2}`.
        - "bch": the first n words of the binary simplex code of length
          :math:`2^m - 1`, with the smallest m for which :math:`2^m \geq n`. Entry
          (r, c), with c starting from 1, is the parity of the number of ones that the
          binary numbers r and c have in common. This is the BCH code of designed
          distance :math:`2^{m - 1}`, a Hadamard matrix without its constant column; any
          two rows have this distance.
        - A matrix of -1, 0 and +1, or of 0 and 1, where 0 means -1. Rows are in the
          order of the sorted classes.

        For two classes, all names give a single column.
    code_size : float or "auto", default="auto"
        Columns per class of a random code, which has ``int(code_size * n_classes)``
        columns. "auto": 1.5, or fewer if there are not as many distinct columns. Other
        codes ignore it.
    decoding : {"loss", "hamming", "probability"}, default="loss"
        How classes are derived from the outputs of the members.

        - "loss": the smallest sum of losses (Allwein, Schapire and Singer [2]_),
          :math:`\sum_b L(M_{rb} f_b)`, where f is the ``decision_function`` of the
          members. Members without it use :math:`2 q - 1`, where q is the probability of
          class 1, or their votes if they do not predict probabilities either.
        - "hamming": the smallest Hamming distance (海明距离) from the votes
          :math:`v_b = \pm 1` of the members, :math:`\sum_b (1 - M_{rb} v_b) / 2`, to
          which a zero contributes 1/2.
        - "probability": the largest probability; see Notes for ``predict_proba``.
    loss : {"linear", "exponential", "logistic", "hinge"}, default="linear"
        L for ``decoding="loss"``: :math:`-z`, :math:`e^{-z}`,
        :math:`\ln(1 + e^{-2z})` or :math:`\max(1 - z, 0)`. The loss that the members
        minimise is the natural choice.
    random_state : int, RandomState instance or None, default=None
        Seed for a random code and for the members: it sets every ``random_state`` of
        the estimator that is None.
    n_jobs : int, default=None
        Number of members fitted in parallel. None: one, or the setting of
        ``joblib.parallel_config``; for trees of this package, one thread per core. -1:
        one per core. The result does not depend on it.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.

    Attributes
    ----------
    estimator_ : classifier
        The base estimator, not fitted.
    estimators_ : list of classifiers
        The members, in the order of the columns.
    code_book_ : ndarray of int8, shape (n_classes, n_columns)
        The coding matrix with entries -1, 0 and +1.
    row_separation_ : float
        Smallest distance of two rows, as defined for "hamming".
    column_separation_ : float
        Smallest distance of a column from another column or its negation; NaN for a
        single column, and for more than 5000 columns, which are not compared.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.

    See Also
    --------
    sklearn.multiclass.OutputCodeClassifier : Random codes without constraints.

    Notes
    -----
    scikit-learn's ``OutputCodeClassifier`` draws each entry independently, so columns
    may be equal, complementary or constant, and rows equal. Here this is excluded: for
    3 classes there are at most 3 columns, and a ``code_size`` that requires more raises
    an error. scikit-learn predicts the row of M with the smallest Euclidean distance
    from the outputs. For a dense code, this is the row with the largest :math:`\sum_b
    M_{rb} f_b`, as with the defaults here; with the same code and the same members,
    both predict the same. scikit-learn supports neither zeros in codes nor other
    decodings, and accepts ``sample_weight`` only with metadata routing.

    ``predict_proba`` computes the class probabilities p that agree best with the
    probabilities :math:`q_b` of class 1 predicted by the members. If these are exact,
    :math:`q_b = P^+_b / (P^+_b + P^-_b)` with the sums of p over the classes on either
    side of column b. The result minimises

    .. math:: \sum_b \bigl((1 - q_b) P^+_b - q_b P^-_b\bigr)^2, \qquad
        p_r \geq 0, \quad \sum_r p_r = 1.

    For codes without zeros, this is the least-squares method of Kong and Dietterich
    [3]_; for pairs of classes, the second method of Wu, Lin and Weng [4]_. With
    "one_vs_rest", probabilities that sum to 1 are returned unchanged. If there are
    several minima, the one with the smallest sum of squares is used.

    Rows with ``sample_weight`` 0 are ignored by trees of this package; other members
    receive all weights as they are.

    References
    ----------
    .. [1] T. G. Dietterich, G. Bakiri (1995), Solving multiclass learning problems via
       error-correcting output codes, Journal of Artificial Intelligence Research 2.
    .. [2] E. L. Allwein, R. E. Schapire, Y. Singer (2000), Reducing multiclass to
       binary: a unifying approach for margin classifiers, Journal of Machine Learning
       Research 1.
    .. [3] E. B. Kong, T. G. Dietterich (1997), Probability estimation via
       error-correcting output coding, Artificial Intelligence and Soft Computing.
    .. [4] T.-F. Wu, C.-J. Lin, R. C. Weng (2004), Probability estimates for multi-class
       classification by pairwise coupling, Journal of Machine Learning Research 5.
    .. [5] 周志华《机器学习》, section 3.5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> codes = OutputCodeClassifier(code="exhaustive").fit(X, y)
    >>> codes.code_book_
    array([[ 1,  1,  1],
           [-1, -1,  1],
           [-1,  1, -1]], dtype=int8)
    >>> codes.row_separation_
    2.0
    >>> codes.predict([[5.0, 3.5, 1.5, 0.2]])
    array([0])
    """

    _saved_fields = (
        SavedField("code_book_", "integer", ("classes", "members"), least=-1),
    )

    _store_blocks = store_blocks

    def __init__(
        self,
        estimator: Any = None,
        *,
        code: ArrayLike = "dense_random",
        code_size: float | str = "auto",
        decoding: str = "loss",
        loss: str = "linear",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.code_size = code_size
        self.decoding = decoding
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are not allowed."""
        check_estimator(
            "estimator",
            self.estimator,
            ("fit", "predict"),
            lambda estimator: not is_regressor(estimator),
            "a classifier",
        )
        if isinstance(self.code, str) or not hasattr(self.code, "__len__"):
            check_choice("code", self.code, (*RANDOM_CODES, *FIXED_CODES))
        is_size = is_real(self.code_size) and 0 < self.code_size < np.inf
        is_auto = isinstance(self.code_size, str) and self.code_size == "auto"
        if is_checked() and not is_size and not is_auto:
            raise ValueError(
                "The 'code_size' parameter must be a float in the range (0.0, inf) or "
                f"'auto'; got {show_value(self.code_size)}."
            )
        check_choice("decoding", self.decoding, tuple(DECODINGS))
        check_choice("loss", self.loss, tuple(LOSSES))
        check_random_seed("random_state", self.random_state)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)

    def _get_estimator(self):
        """Return the estimator of which members are copies."""
        return CARTClassifier() if self.estimator is None else self.estimator

    def _repeats_columns(self) -> bool:
        """Return whether a member may see a column twice."""
        return False

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit a member for each column of the code.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, passed to the members.
        **fit_params : dict
            Parameters for ``fit`` of the members; requires
            ``sklearn.set_config(enable_metadata_routing=True)``.

        Returns
        -------
        self : estimator
            The fitted ensemble.
        """
        self._check_parameters()
        template = self._get_estimator()
        metadata = self._route("fit", fit_params).get("fit", {})
        codes = self._read_labels(X, y)
        seeds = draw_seeds(self.random_state, 0, 1)
        matrix = make_code(self.code, self.n_classes_, self.code_size, seeds[0])
        seeds = draw_seeds(seeds[0], 1, matrix.shape[1])
        told = None if sample_weight is None else {"sample_weight": sample_weight}
        context = self._init_callback_context(max_subtasks=len(seeds))
        context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=told)
        weight = check_weights(sample_weight, len(codes))
        problems = BinaryProblems(matrix, codes, weight, seeds)
        problems.require_both_sides(self.classes_)
        training = self._prepare(template, X, problems, metadata)
        self.estimator_, self._reader = template, training.reader
        hooks = {"estimator": self, "X": X, "y": y, "metadata": told}
        members = []

        def describe():
            own = {name: value for name, value in vars(self).items() if name[-1] == "_"}
            fitted = _describe_members(matrix, list(members))
            return {**own, "_reader": self._reader, **fitted}

        fitted = training.fit()
        for member in yield_until_stopped(fitted, context, "member", hooks, describe):
            members.append(member)
        vars(self).update(_describe_members(matrix, members))
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=told)
        return self

    def _read_labels(self, X, y):
        """Read the labels; give every class a number."""
        if y is None:
            # Lets scikit-learn raise its usual error.
            validate_data(self, X, y, skip_check_array=True)
        y = column_or_1d(decode_dictionary(y), warn=True)
        labels = check_target(y, is_numeric=False)
        (self.classes_,), codes = encode_labels(labels)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ < 2:
            raise ValueError(
                f"{type(self).__name__} requires at least two classes, but y has only "
                f"one class: {self.classes_.tolist()[0]!r}."
            )
        return codes[:, 0]

    def _prepare(self, template, X, problems, metadata):
        """Read the table in the form that the members need."""
        if self.decoding == "probability" and not hasattr(template, "predict_proba"):
            raise ValueError(
                "decoding='probability' requires members with predict_proba; got "
                f"{type(template).__name__}."
            )
        if can_share_table(template) and not metadata:
            return CodedTrees(self, template, X, problems)
        if problems.weight is not None and not consumes_weight(template):
            raise ValueError(
                f"sample_weight was given, but {type(template).__name__}.fit does not "
                "accept it."
            )
        table = read_table(self, X)
        check_consistent_length(table, problems.codes)
        return CodedEstimators(self, template, table, problems, metadata)

    # ---------------------------------------------------------------- model files
    def _get_reader(self):
        return self._reader

    def _list_member_classes(self, classes):
        return [np.arange(2)]

    def _restore(self, reader, members, columns, kept) -> None:
        matrix = read_code(kept["code_book_"], self.n_classes_)
        if not np.array_equal(matrix, kept["code_book_"]) or any(
            of_member is not None for of_member in columns
        ):
            raise ValueError("code_book_ does not match the members")
        self.estimator_, self._reader = clone(reader), reader
        vars(self).update(_describe_members(matrix, members))

    # --------------------------------------------------------------------- routing
    _route = route_parameters

    def get_metadata_routing(self) -> Any:
        """Get the routing of metadata to the methods of the members.

        Returns
        -------
        router : MetadataRouter
            See scikit-learn's guide to metadata routing.
        """
        estimator = self._get_estimator()
        asked = choose_method(estimator, DECODINGS[self.decoding])
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for caller in ("predict", "decision_function", "predict_proba"):
            mapping = mapping.add(caller=caller, callee=asked)
        return MetadataRouter(owner=self).add(
            estimator=estimator, method_mapping=mapping
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_member = get_tags(self._get_estimator()).input_tags
        for name in ("sparse", "allow_nan", "categorical", "string"):
            setattr(tags.input_tags, name, getattr(of_member, name))
        return tags


def _describe_members(matrix, members):
    """List the fitted attributes of the first members of a code."""
    matrix = matrix[:, : len(members)]
    return {
        "estimators_": members,
        "code_book_": matrix,
        "row_separation_": compute_row_separation(matrix),
        "column_separation_": (
            compute_column_separation(matrix)
            if matrix.shape[1] <= MOST_COMPARED
            else math.nan
        ),
    }
