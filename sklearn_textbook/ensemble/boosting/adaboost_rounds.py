"""The rounds of AdaBoost, and when they end."""

from __future__ import annotations

import math

import numpy as np
from sklearn.utils import check_random_state

#: A member whose error is below chance by no more is no better than chance.
_ROUNDING = 1e-12
_LARGEST_SEED = np.iinfo(np.int32).max


class AdaBoostRounds:
    r"""The members of AdaBoost, and what is known of each round.

    Parameters
    ----------
    learner : Learner
        Fits the members.
    learning_rate : float
        Factor of the members' weights.
    max_restarts : int
        How often a round is drawn again.
    stores_weights : bool
        Whether the weights of the rows are kept.

    Attributes
    ----------
    members : list of estimator
        The members.
    errors, alphas, normalizers : list of float
        :math:`e_m`, :math:`\alpha_m` and :math:`Z_m`.
    row_weights : list of ndarray
        :math:`D_1, D_2, \ldots`, if they are kept.
    stop_reason : str
        Why there are no more rounds.
    """

    def __init__(self, learner, learning_rate, max_restarts, stores_weights):
        self.learner, self.learning_rate = learner, learning_rate
        self.max_restarts, self.stores_weights = max_restarts, stores_weights
        self.members, self.errors, self.alphas, self.normalizers = [], [], [], []
        self.row_weights = [learner.weight] if stores_weights else []
        self.factor, self.stop_reason = 1.0, ""

    def resume(self, members, errors, alphas):
        """Continue from an earlier fit.

        Parameters
        ----------
        members : list of estimator
            The members there are.
        errors, alphas : ndarray of float64
            Their errors and weights.
        """
        for member, error, alpha in zip(members, errors, alphas, strict=True):
            self._add(member, float(error), float(alpha))
            self.learner.replay(member, self.factor)
            if self.stores_weights:
                self.row_weights.append(self.learner.weight)
        self.factor = 1.0

    @property
    def is_perfect(self):
        """Whether the last member misclassifies no row, so that boosting has ended."""
        return bool(self.errors) and self.errors[-1] == 0.0

    def make_rounds(self, seeds):
        """Make one round per seed, or fewer.

        Parameters
        ----------
        seeds : list of int
            The seeds.

        Yields
        ------
        member : estimator
            The round's member, which is in the lists already.

        Raises
        ------
        ValueError
            If not even the first member is better than chance.
        """
        for seed in seeds:
            member, error = self._fit_member(seed)
            if member is None:
                return
            # The reason if a callback ends the loop here.
            self.stop_reason = "A callback stopped the fit."
            self._add(member, error, self._weigh(error))
            if self.stores_weights:
                self.row_weights.append(self.learner.preview(self.factor))
            yield member
            if error == 0.0:
                self.stop_reason = (
                    f"Member {len(self.members)} has no errors, so there is nothing "
                    "left to learn."
                )
                return
        self.stop_reason = f"All n_estimators={len(self.members)} rounds were run."

    def _fit_member(self, seed):
        """Fit the member of a round; None if it is no better than chance."""
        n_classes = self.learner.n_classes
        chance = 1.0 - 1.0 / n_classes
        n_tries = 1 + (self.max_restarts if self.learner.is_drawn else 0)
        seeds = None
        for _ in range(n_tries):
            own_seed = seed if seeds is None else int(seeds.randint(_LARGEST_SEED))
            member, error = self.learner.learn(self.factor, own_seed)
            error, self.factor = float(error), 1.0
            if error == 0.0 or error < chance - _ROUNDING:
                return member, error
            seeds = seeds or check_random_state(seed)
        number = len(self.members) + 1
        again = f" in any of {n_tries} draws" if self.learner.is_drawn else ""
        self.stop_reason = (
            f"Member {number} was no better than chance{again}: its weighted error was "
            f"{error:.6g}, that of guessing among {n_classes} classes is {chance:.6g}."
        )
        if number == 1:
            raise ValueError(
                "The first member is no better, or even worse than random guessing, so "
                f"there is nothing to boost. {self.stop_reason}"
            )
        return None, error

    def _weigh(self, error):
        """Compute the weight of a member."""
        if error == 0.0:
            return 1.0 + sum(self.alphas)
        odds = (1.0 - error) / error * (self.learner.n_classes - 1)
        return self.learning_rate * 0.5 * math.log(odds)

    def _add(self, member, error, alpha):
        """Add a round to the lists."""
        self.members.append(member)
        self.errors.append(error)
        self.alphas.append(alpha)
        right, wrong = (1.0 - error) * math.exp(-alpha), 0.0
        self.factor = 1.0
        if error > 0.0:
            # Beyond the largest float, correctly classified rows get weight 0.
            self.factor = math.exp(2.0 * alpha) if alpha < 350.0 else math.inf
            wrong = math.exp(min(alpha + math.log(error), 700.0))
        self.normalizers.append(right + wrong)
