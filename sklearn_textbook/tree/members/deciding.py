"""What one member says where the estimator, beside its tree, has a say."""

from __future__ import annotations

from sklearn_textbook.tree.recipe import TreeClassifierMethods


def decides_by_largest_share(member):
    """Tell whether a member's class is the one of the largest share, first of equals.

    Parameters
    ----------
    member : tree estimator
        A fitted tree.

    Returns
    -------
    is_plain : bool
        False for C4.5, which takes nearly equal shares for equal.
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
        Shares of the classes that its tree gives.

    Returns
    -------
    best : ndarray of int, shape (n_rows, n_outputs)
        Class numbers.
    """
    return member._choose_classes(shares)


def get_shown_tree(member):
    """Return the tree whose statistics a member shows as predictions.

    Parameters
    ----------
    member : tree estimator
        A fitted tree.

    Returns
    -------
    tree : GrownTree
        ``member.tree_``, or a copy with the shares of ``predict_proba`` where these
        are others, as with Laplace's correction.
    """
    is_classifier = isinstance(member, TreeClassifierMethods)
    return member._share_statistics() if is_classifier else member.tree_
