"""Predictions of members that depend on the estimator as well as on the tree."""

from __future__ import annotations

from sklearn_textbook.tree.recipe import TreeClassifierMethods


def decides_by_largest_share(member):
    """Return whether a member predicts the most probable class, the first at ties.

    Parameters
    ----------
    member : tree estimator
        A fitted tree.

    Returns
    -------
    is_plain : bool
        False for C4.5, which treats nearly equal proportions as equal.
    """
    own = getattr(type(member), "_choose_classes", None)
    return own is TreeClassifierMethods._choose_classes


def choose_member_classes(member, shares):
    """Choose classes as ``member.predict`` does.

    Parameters
    ----------
    member : tree estimator
        A fitted classification tree.
    shares : ndarray of float64, shape (n_rows, n_outputs, n_classes)
        Class proportions of its tree.

    Returns
    -------
    best : ndarray of int, shape (n_rows, n_outputs)
        Class indices.
    """
    return member._choose_classes(shares)


def get_shown_tree(member):
    """Return the tree whose statistics are the predictions of a member.

    Parameters
    ----------
    member : tree estimator
        A fitted tree.

    Returns
    -------
    tree : GrownTree
        ``member.tree_``, or a copy with the probabilities of ``predict_proba`` if these
        differ, as with Laplace's correction.
    """
    is_classifier = isinstance(member, TreeClassifierMethods)
    return member._share_statistics() if is_classifier else member.tree_
