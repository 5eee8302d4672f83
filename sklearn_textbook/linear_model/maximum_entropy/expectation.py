"""Expectations of the features under the model, and its loss."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.linear_model.maximum_entropy._expectation import sum_expectations
from sklearn_textbook.linear_model.maximum_entropy.joint_features import JointFeatures
from sklearn_textbook.linear_model.maximum_entropy.span import Span

#: Sums are stored for this many blocks of contexts, fewer if there are many features.
MAX_BLOCKS = 64
CONTEXTS_PER_BLOCK = 512
#: Maximum number of entries of all these sums.
MAX_SUMS = 2**22

NO_BUCKET = np.empty(0, dtype=np.int32)


def count_blocks(n_contexts, n_sums):
    """Count blocks of contexts, which depends only on the size of the problem."""
    most = max(1, min(MAX_BLOCKS, MAX_SUMS // max(1, n_sums)))
    return max(1, min(most, n_contexts // CONTEXTS_PER_BLOCK))


@dataclass(eq=False)
class EntropyProblem:
    r"""Problem of maximum likelihood, or equivalently of constrained maximum entropy.

    The loss is, with weights :math:`n(x, y)` of the rows and penalties
    :math:`\alpha_j`,

    .. math:: L(w) = -\sum_{x, y} n(x, y) \log P_w(y|x)
        + \tfrac12 \sum_j \alpha_j w_j^2.

    It is not computed as that of logistic regression: here equal rows are merged, which
    may have several classes, features are those of pairs (x, y), and iterative scaling
    needs the expectations by the size of the features.
    """

    #: The features.
    features: JointFeatures
    #: Sums of the weights :math:`n(x)` of each context. Shape (n_contexts,).
    context_weight: np.ndarray
    #: Weights :math:`n(x, y)`; None if only expectations are known. Shape (n_contexts,
    #: n_classes).
    counts: np.ndarray | None
    #: Sums of the features over the rows. None: to be found from ``counts``. Shape
    #: (n_features,).
    empirical: np.ndarray | None = None
    #: :math:`\alpha`; None: zeros. Shape (n_features,).
    penalty: np.ndarray | None = None
    #: Threads, as in the estimator.
    n_jobs: int | None = None
    #: What the features span.
    span: Span = field(default_factory=Span)
    probabilities: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        features = self.features
        if self.penalty is None:
            self.penalty = np.zeros(features.n_features)
        self.n_threads = count_threads(
            self.n_jobs, len(features.values) * (1 if features.is_joint else 2)
        )
        self.total = float(self.context_weight.sum())
        if self.empirical is None:
            self.empirical = self._run(np.zeros(features.n_features), self.counts)[1][0]
        self.probabilities = np.empty((features.n_contexts, features.n_classes))

    def evaluate(
        self, weights: np.ndarray, bucket=None, n_buckets: int = 1
    ) -> tuple[float, np.ndarray]:
        """Compute loss and expected sums at some weights.

        Returns (loss, expected).

        ``probabilities`` then holds those of all contexts.
        """
        loss, expected = self._run(weights, None, bucket, n_buckets)
        if self.counts is None:
            loss -= float(weights @ self.empirical)
        loss += 0.5 * float((self.penalty * weights) @ weights)
        return loss, expected

    def find_gradient(self, weights, expected):
        """Find the slope of the loss, from expected sums."""
        return expected - self.empirical + self.penalty * weights

    def find_gap(self, weights, expected):
        """Find the largest slope, per unit of weight: 0 at the optimum.

        If features are nearly dependent, slopes are those by uncorrelated combinations.
        """
        gradient = self.span.turn(self.find_gradient(weights, expected))
        return float(np.abs(gradient).max(initial=0.0)) / self.total

    def find_entropy(self):
        """Compute the conditional entropy of ``probabilities``, in nats."""
        fractions = self.probabilities
        logarithms = np.log(
            fractions, out=np.zeros_like(fractions), where=fractions > 0
        )
        of_contexts = -(fractions * logarithms).sum(axis=1)
        return float(of_contexts @ self.context_weight) / self.total

    def _run(self, weights, given, bucket=None, n_buckets: int = 1):
        features = self.features
        n_sums = n_buckets * features.n_features
        n_blocks = count_blocks(features.n_contexts, n_sums)
        block_loss, block_sums = np.zeros(n_blocks), np.zeros((n_blocks, n_sums))
        is_given = given is not None
        context_weight = self.context_weight
        sum_expectations(
            features.values,
            features.columns,
            features.starts,
            features.is_joint,
            weights,
            np.ones(len(context_weight)) if is_given else context_weight,
            np.empty((0, 0)) if self.counts is None else self.counts,
            NO_BUCKET if bucket is None else bucket,
            is_given,
            given if is_given else self.probabilities,
            block_loss,
            block_sums,
            self.n_threads,
        )
        sums = block_sums.sum(axis=0).reshape(n_buckets, -1)
        return float(block_loss.sum()), sums


@dataclass(frozen=True, eq=False)
class EntropySolution:
    """Result of a solver."""

    #: The weights. Shape (n_features,).
    weights: np.ndarray
    #: Sums of the features expected under the model. Shape (n_features,).
    expected: np.ndarray
    #: The loss at the start and after every round. Shape (n_iter + 1,).
    loss_path: np.ndarray
    #: Largest slope of the loss, per unit of weight.
    gap: float
    #: Whether the gap is within the tolerance.
    has_converged: bool

    @property
    def n_iter(self):
        """Number of rounds."""
        return len(self.loss_path) - 1


def compute_scores(features: JointFeatures, weights: np.ndarray) -> np.ndarray:
    """Scores of the classes, logarithms of P(y|x) up to a number for each row."""
    matrix = features.to_matrix()
    if features.is_joint:
        return np.asarray(matrix @ weights).reshape(-1, features.n_classes)
    return np.asarray(matrix @ weights.reshape(-1, features.n_classes))
