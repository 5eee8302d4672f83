"""Eigenvalues of principal components and their contributions, as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.decomposition import PCA
from sklearn_textbook.inspection._axes import make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The colour-blind safe blue, orange and grey of Okabe and Ito.
KEPT_COLOR = "#0072B2"
CUMULATIVE_COLOR = "#D55E00"
LEFT_OUT_COLOR = "#B8BDC2"
#: Maximum number of components with a tick each.
MAX_TICKS = 15


class ScreeDisplay:
    r"""Scree plot of eigenvalues with cumulative contributions (碎石图).

    Bars are the eigenvalues :math:`\lambda_k`, dark for the kept components, with the
    scale on the left. The line, with the scale on the right, is the cumulative sum
    (累计方差贡献率) of the contributions (方差贡献率) :math:`\eta_k = \lambda_k /
    \sum_i \lambda_i`. Each scale ends a little above the largest value shown.

    Use :meth:`from_estimator` to create and draw a display; :meth:`plot` draws it
    again, with other axes or parameters.

    Parameters
    ----------
    eigenvalues : array-like of shape (n_eigenvalues,)
        Variances of the components in descending order.
    total_variance : float or None, default=None
        Sum of all eigenvalues, including those not given. None: sum of those given.
    n_components : int or None, default=None
        Number of kept components. None: all.

    Attributes
    ----------
    ratios_ : ndarray of shape (n_eigenvalues,)
        Contributions of the components.
    cumulative_ : ndarray of shape (n_eigenvalues,)
        Cumulative contributions.
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    right_ax_ : matplotlib.axes.Axes
        The axes of the scale on the right.
    bars_ : matplotlib.container.BarContainer
        The eigenvalues.
    line_ : matplotlib.lines.Line2D
        The cumulative contribution.
    threshold_line_ : matplotlib.lines.Line2D or None
        The threshold.

    Raises
    ------
    ValueError
        If the eigenvalues are not finite, not in descending order, negative or all 0,
        sum to more than ``total_variance``, or are fewer than ``n_components``.

    See Also
    --------
    sklearn_textbook.decomposition.PCA : Computes the components.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_pca_correlation_example
    >>> from sklearn_textbook.decomposition import PCA
    >>> from sklearn_textbook.inspection import ScreeDisplay
    >>> R = load_pca_correlation_example().data
    >>> pca = PCA(n_components=0.75).fit_covariance(R)
    >>> display = ScreeDisplay.from_estimator(pca)
    >>> display.cumulative_.round(3).tolist()
    [0.543, 0.76, 0.902, 1.0]
    """

    def __init__(
        self,
        eigenvalues: ArrayLike,
        *,
        total_variance: float | None = None,
        n_components: int | None = None,
    ) -> None:
        self.eigenvalues = eigenvalues
        self.total_variance = total_variance
        self.n_components = n_components
        values = _read_eigenvalues(eigenvalues)
        total = values.sum() if total_variance is None else float(total_variance)
        if not values.sum() <= total * (1 + 1e-6):
            raise ValueError(
                "total_variance must be at least the sum of the eigenvalues, "
                f"{values.sum():g}; got {total_variance!r}."
            )
        if n_components is not None and not 0 <= n_components <= len(values):
            raise ValueError(
                "n_components must be None or from 0 to the number of eigenvalues, "
                f"{len(values)}; got {n_components!r}."
            )
        self._values = values
        self.ratios_ = values / total
        self.cumulative_ = np.cumsum(self.ratios_)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the eigenvalues of fitted principal components.

        Parameters
        ----------
        estimator : estimator
            A fitted :class:`~sklearn_textbook.decomposition.PCA`, or that of
            scikit-learn, for which only the kept components are known.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        ScreeDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If it has no ``explained_variance_`` or no components.
        """
        check_is_fitted(estimator)
        kept = getattr(estimator, "explained_variance_", None)
        if kept is None or len(kept) == 0:
            raise ValueError(
                "estimator must be a fitted PCA with at least one component and "
                f"explained_variance_; got {type(estimator).__name__}."
            )
        total = float(kept[0]) / float(estimator.explained_variance_ratio_[0])
        eigenvalues = getattr(estimator, "eigenvalues_", kept)
        # In single precision, correct the total for rounding.
        total = max(total, float(np.sum(eigenvalues, dtype=np.float64)))
        display = cls(eigenvalues, total_variance=total, n_components=len(kept))
        return display.plot(ax=ax, **kwargs)

    @classmethod
    def from_data(
        cls,
        X: MatrixLike,
        *,
        standardize: bool = False,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the eigenvalues of the covariance or correlation matrix of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        standardize : bool, default=False
            Whether to use the correlation matrix.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        ScreeDisplay
            The display, with the drawing in ``ax_``.
        """
        pca = PCA(standardize=standardize).fit(X, sample_weight=sample_weight)
        return cls.from_estimator(pca, ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        threshold: float | None = None,
        n_shown: int | None = None,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the eigenvalues.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        threshold : float or None, default=None
            A cumulative contribution to mark, from 0 to 1; the textbook recommends 0.7
            to 0.8.
        n_shown : int or None, default=None
            Number of components to draw, starting with the first. None: all.
        bar_kw : dict or None, default=None
            Parameters of matplotlib's ``bar``.
        line_kw : dict or None, default=None
            Parameters of matplotlib's ``plot`` for the cumulative contribution.

        Returns
        -------
        ScreeDisplay
            The display itself, with the drawing in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``threshold`` is not from 0 to 1, or ``n_shown`` is not from 1 to the
            number of eigenvalues.
        """
        check_integer("n_shown", n_shown, 1, len(self._values), accepts_none=True)
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(
                f"threshold must be from 0 to 1 or None; got {threshold!r}."
            )
        self.ax_ = ax = make_axes(ax)
        self.figure_ = ax.figure
        values, cumulative = self._values[:n_shown], self.cumulative_[:n_shown]
        numbers = np.arange(1, len(values) + 1)
        n_kept = len(numbers) if self.n_components is None else self.n_components
        colors = [KEPT_COLOR if k <= n_kept else LEFT_OUT_COLOR for k in numbers]
        style = {"color": colors, "width": 0.7} | (bar_kw or {})
        self.bars_ = ax.bar(numbers, values, **style)
        self.right_ax_ = right = ax.twinx()
        style = {"color": CUMULATIVE_COLOR, "linewidth": 1.6} | (line_kw or {})
        if len(numbers) <= MAX_TICKS:
            style = {"marker": "o", "markersize": 4} | style
            ax.set_xticks(numbers)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        (self.line_,) = right.plot(numbers, cumulative, **style)
        self.threshold_line_ = None
        if threshold is not None:
            self.threshold_line_ = right.axhline(
                threshold, color=CUMULATIVE_COLOR, linestyle=":", linewidth=1.0
            )
        # Each scale ends above what it shows: small eigenvalues stay visible.
        ax.set_ylim(0, 1.08 * values[0])
        right.set_ylim(0, 1.08 * max(cumulative[-1], threshold or 0.0))
        right.yaxis.set_major_formatter(lambda fraction, _: f"{100 * fraction:.6g}%")
        ax.set_xlim(0.4, len(numbers) + 0.6)
        ax.set_xlabel("component")
        ax.set_ylabel(r"eigenvalue $\lambda_k$")
        right.set_ylabel("cumulative proportion of variance", color=CUMULATIVE_COLOR)
        ax.figure.sca(ax)
        return self


def _read_eigenvalues(eigenvalues):
    """Check eigenvalues and return them as an array."""
    values = np.asarray(eigenvalues, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"eigenvalues must be a non-empty 1D array; got shape {values.shape}."
        )
    if not np.isfinite(values).all() or (values < 0).any() or values[0] == 0:
        raise ValueError(
            "eigenvalues must be finite, not negative and not all 0; got "
            f"{values.tolist()}."
        )
    if (np.diff(values) > 1e-6 * values[0]).any():
        raise ValueError(
            f"eigenvalues must be in descending order; got {values.tolist()}."
        )
    return values
