"""A tree as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from sklearn_textbook.tree.explain import plot_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TreeDisplay:
    """Plot of a fitted tree.

    Use :meth:`from_estimator` to create and draw a display; :meth:`plot` draws it
    again, with other axes or parameters.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of :mod:`sklearn_textbook.tree`.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    class_names : array-like of str or None, default=None
        Names of the classes in the order of ``classes_``; ``None`` uses the labels.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    artists_ : list of matplotlib.artist.Artist
        All artists drawn.

    See Also
    --------
    sklearn_textbook.tree.plot_tree : Draws the figure with a single function call.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.inspection import TreeDisplay
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> iris = load_iris(as_frame=True)
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> display = TreeDisplay.from_estimator(tree, orientation="horizontal")
    >>> display.figure_.savefig("tree.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        estimator: Any,
        *,
        feature_names: ArrayLike | None = None,
        class_names: ArrayLike | None = None,
    ) -> None:
        self.estimator = estimator
        self.feature_names = feature_names
        self.class_names = class_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: ArrayLike | None = None,
        class_names: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted tree.

        Parameters
        ----------
        estimator : estimator
            A fitted tree of :mod:`sklearn_textbook.tree`.
        feature_names : array-like of str or None, default=None
            Names of the columns; ``None`` uses the names of the training table.
        class_names : array-like of str or None, default=None
            Names of the classes in the order of ``classes_``; ``None`` uses the labels.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure whose size fits the tree.
        **kwargs : dict
            Other parameters of :func:`~sklearn_textbook.tree.plot_tree`.

        Returns
        -------
        TreeDisplay
            The display, with the drawing in ``ax_``.
        """
        display = cls(estimator, feature_names=feature_names, class_names=class_names)
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure whose size fits the tree.
        **kwargs : dict
            Other parameters of :func:`~sklearn_textbook.tree.plot_tree`.

        Returns
        -------
        TreeDisplay
            The display itself, with the drawing in ``ax_``.
        """
        self.artists_ = plot_tree(
            self.estimator,
            feature_names=self.feature_names,
            class_names=self.class_names,
            ax="new" if ax is None else ax,
            **kwargs,
        )
        self.ax_ = self.artists_[0].axes
        self.figure_ = self.ax_.figure
        return self
