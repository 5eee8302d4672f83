"""Classes and probabilities of members that may know different classes."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.labels import encode_known_labels
from sklearn_textbook.ensemble.combination.class_target import (
    check_class_target,
    join_classes,
    read_class_target,
    require_places,
)
from sklearn_textbook.ensemble.members.estimator_members import spread


class ClassMembersMixin:
    """Members that are classifiers: fitted ones know labels, others learn places."""

    def _read_target(self, y):
        if not self.prefit:
            self.classes_, codes = read_class_target(self, y)
            return codes
        y = check_class_target(self, y)
        members = {
            name: self._check_member(name, one) for name, one in self._list_given()
        }
        self.classes_ = join_classes(members)
        encode_known_labels(y.reshape(-1, 1), [self.classes_])
        return y

    def _encode(self, labels):
        """Find the places in ``classes_`` of labels that a member gives."""
        labels = np.asarray(labels)
        if not self.prefit:
            return labels.astype(np.intp, copy=False)
        return encode_known_labels(labels.reshape(-1, 1), [self.classes_])[:, 0]

    def _restore(self, parts, kept) -> None:
        super()._restore(parts, kept)
        for member in self.estimators_:
            require_places(self, member, self._encode(member.classes_))

    def _collect_probabilities(self, X, members=None):
        """Collect the members' probabilities, each of shape (n_samples, n_classes)."""
        members = self._list_fitted() if members is None else members
        answers = self._call_members("predict_proba", X, members)
        return [
            spread(given, self._encode(member.classes_), len(self.classes_), 0.0)
            for given, (_, member) in zip(answers, members, strict=True)
        ]
