"""The scree plot and the biplot."""

import io
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.decomposition
from matplotlib import font_manager
from matplotlib.backends import backend_pdf, backend_svg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError

from sklearn_textbook.datasets import load_pca_correlation_example
from sklearn_textbook.decomposition import PCA
from sklearn_textbook.inspection import BiplotDisplay, ScreeDisplay
from sklearn_textbook.inspection._axes import use_fonts
from sklearn_textbook.tree.explain import lettering


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True)


@pytest.fixture(scope="module")
def pca(wine):
    return PCA(n_components=3, standardize=True).fit(wine.data)


# ---------------------------------------------------------------------------- scree
def test_scree_of_an_estimator(pca):
    display = ScreeDisplay.from_estimator(pca, threshold=0.8)
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, pca.eigenvalues_)
    colors = [bar.get_facecolor() for bar in display.bars_]
    assert len(set(colors[:3])) == len(set(colors[3:])) == 1
    assert colors[0] != colors[3]
    np.testing.assert_allclose(
        display.line_.get_ydata(), np.cumsum(pca.eigenvalues_) / 13
    )
    assert display.threshold_line_.get_ydata()[0] == 0.8
    assert display.figure_ is display.ax_.figure


@pytest.mark.parametrize("n_shown", [None, 2])
@pytest.mark.parametrize("threshold", [None, 0.8])
def test_scales_of_a_scree_end_above_what_is_shown(pca, n_shown, threshold):
    display = ScreeDisplay.from_estimator(pca, n_shown=n_shown, threshold=threshold)
    assert len(display.bars_) == len(display.line_.get_xdata()) == n_shown or 13
    left, right = display.ax_.get_ylim(), display.right_ax_.get_ylim()
    assert (left[0], right[0]) == (0, 0)
    assert 1.0 < left[1] / pca.eigenvalues_[0] < 1.1
    highest = max(display.line_.get_ydata()[-1], threshold or 0.0)
    assert 1.0 < right[1] / highest < 1.1
    assert display.ax_.get_xlim()[1] < (n_shown or 13) + 1
    with pytest.raises(ValueError, match="n_shown"):
        display.plot(n_shown=14)


def test_scree_of_data_is_that_of_the_estimator(wine, pca):
    display = ScreeDisplay.from_data(wine.data, standardize=True)
    np.testing.assert_allclose(display.ratios_ * 13, pca.eigenvalues_)
    assert display.threshold_line_ is None
    weights = np.arange(178) % 2
    weighted = ScreeDisplay.from_data(wine.data, sample_weight=weights)
    expected = PCA().fit(wine.data[weights > 0]).explained_variance_ratio_
    np.testing.assert_allclose(weighted.ratios_, expected)


def test_scree_of_scikit_learn_and_of_a_truncated_fit(wine):
    """The total is that of all eigenvalues, although only the first are known."""
    stock = sklearn.decomposition.PCA(2).fit(wine.data)
    ours = PCA(2, svd_solver="arpack", random_state=0).fit(wine.data)
    for estimator in (stock, ours):
        display = ScreeDisplay.from_estimator(estimator)
        assert len(display.bars_) == 2
        np.testing.assert_allclose(display.ratios_, stock.explained_variance_ratio_)


def test_scree_on_given_axes_and_with_many_components():
    _, ax = plt.subplots()
    display = ScreeDisplay(np.linspace(5, 0, 40), n_components=7)
    assert (
        display.plot(ax, bar_kw={"width": 1.0}, line_kw={"linestyle": ":"}) is display
    )
    assert display.ax_ is ax
    assert display.line_.get_linestyle() == ":"
    assert display.line_.get_marker() in ("None", None, "")
    assert display.bars_[0].get_width() == 1.0
    display.plot()
    assert display.ax_ is not ax


@pytest.mark.parametrize(
    ("eigenvalues", "options", "message"),
    [
        ([], {}, "must be a non-empty 1D array"),
        ([[1.0]], {}, "must be a non-empty 1D array"),
        ([1.0, 2.0], {}, "descending order"),
        ([1.0, -1.0], {}, "not negative"),
        ([np.nan], {}, "finite"),
        ([0.0], {}, "not all 0"),
        ([2.0, 1.0], {"total_variance": 2.0}, "sum of the eigenvalues, 3; got 2.0"),
        (
            [2.0, 1.0],
            {"n_components": 3},
            "n_components must be None or from 0 .* 2; got 3",
        ),
    ],
)
def test_wrong_eigenvalues(eigenvalues, options, message):
    with pytest.raises(ValueError, match=message):
        ScreeDisplay(eigenvalues, **options)


def test_wrong_scree(pca):
    with pytest.raises(NotFittedError):
        ScreeDisplay.from_estimator(PCA())
    with pytest.raises(ValueError, match="at least one component"):
        ScreeDisplay.from_estimator(sklearn.preprocessing.StandardScaler().fit([[1.0]]))
    with pytest.raises(ValueError, match="threshold must be from 0 to 1"):
        ScreeDisplay.from_estimator(pca, threshold=80)


# --------------------------------------------------------------------------- biplot
def test_biplot(wine, pca):
    labels = wine.target_names[wine.target]
    display = BiplotDisplay.from_estimator(pca, wine.data, labels=labels)
    points = np.concatenate([part.get_offsets() for part in display.points_])
    np.testing.assert_allclose(points.var(axis=0, ddof=1), 1.0)
    np.testing.assert_allclose(
        display.points_[0].get_offsets(),
        pca.transform(wine.data)[labels == "class_0", :2]
        / np.sqrt(pca.explained_variance_[:2]),
    )
    tips = np.array([arrow.xy for arrow in display.arrows_])
    np.testing.assert_allclose(tips, display.arrow_scale_ * pca.loadings_[:, :2])
    names = [name.get_text().replace("\n", "") for name in display.names_]
    assert names == list(wine.data.columns)
    legend = display.ax_.get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["class_0", "class_1", "class_2"]
    assert display.circle_ is None
    assert display.ax_.get_ylabel() == "component 2 (19.2%)"
    # All that was drawn is in the picture.
    for drawn in (points, tips):
        inside = display.ax_.transAxes.inverted().transform(
            display.ax_.transData.transform(drawn)
        )
        assert ((inside >= 0) & (inside <= 1)).all()


def test_inner_products_are_the_rows(wine):
    """With all variance in two components, the biplot tells every value."""
    X = wine.data.to_numpy()[:, :2]
    pca = PCA(standardize=True).fit(X)
    display = BiplotDisplay.from_estimator(pca, X)
    tips = np.array([arrow.xy for arrow in display.arrows_]) / display.arrow_scale_
    points = np.asarray(display.points_[0].get_offsets())
    np.testing.assert_allclose(points @ tips.T, (X - pca.mean_) / pca.scale_)


def test_whitened_scores_are_drawn_alike(wine, pca):
    white = PCA(3, standardize=True, whiten=True).fit(wine.data)
    one = BiplotDisplay.from_estimator(pca, wine.data, components=(2, 0))
    other = BiplotDisplay.from_estimator(white, wine.data, components=(2, 0))
    np.testing.assert_allclose(
        one.points_[0].get_offsets(), other.points_[0].get_offsets(), atol=1e-10
    )
    assert one.ax_.get_xlabel().startswith("component 3 (")


def test_circle_of_a_correlation_matrix():
    R = load_pca_correlation_example(language="en", as_frame=True).data
    display = BiplotDisplay.from_estimator(PCA(2).fit_covariance(R))
    assert display.circle_.get_radius() == display.arrow_scale_ == 1.0
    assert len(display.arrows_) == 4
    assert display.points_ == []
    assert display.names_[3].get_text() == "physics"
    # Names of neighbouring arrows do not stand on each other.
    renderer = display.figure_.canvas.get_renderer()
    boxes = [name.get_window_extent(renderer) for name in display.names_]
    assert not any(
        one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i]
    )


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("kind", ["biplot", "loadings"])
def test_names_are_outside_the_arrows_and_clear_of_each_other(load, kind):
    data = load(as_frame=True).data
    pca = PCA(2, standardize=True).fit(data)
    display = BiplotDisplay.from_estimator(pca, data, kind=kind)
    display.figure_.draw_without_rendering()
    renderer = display.figure_.canvas.get_renderer()
    boxes = [name.get_window_extent(renderer) for name in display.names_]
    assert not any(
        one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i]
    )
    for tip in [name.xy for name in display.names_]:
        along = np.linspace([0.0, 0.0], tip, 500)
        pixels = display.ax_.transData.transform(along)
        assert not any(
            ((box.min < pixels) & (pixels < box.max)).all(axis=1).any() for box in boxes
        )
    bounds = display.ax_.bbox
    assert all(box.x0 >= bounds.x0 and box.x1 <= bounds.x1 for box in boxes)
    assert all(box.y0 >= bounds.y0 and box.y1 <= bounds.y1 for box in boxes)


def test_names_and_many_classes():
    X = load_iris().data[:60]
    names = ["$alcohol, a long name in $ per month", "b", "c", "d"]
    labels = np.array([f"_class {n:02d}" for n in range(12)])[np.arange(60) % 12]
    pca = PCA(2).fit(X)
    with plt.style.context("dark_background"):
        display = BiplotDisplay.from_estimator(
            pca, X, labels=labels, feature_names=names
        )
    assert display.names_[0].get_text() == "$alcohol, a long name in\n$ per month"
    assert not display.names_[0].get_parse_math()
    (halo,) = display.names_[0].get_path_effects()
    assert halo._gc["foreground"] == to_rgba("black")
    assert len({tuple(part.get_facecolor()[0]) for part in display.points_}) == 12
    legend = display.ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == sorted(set(labels))
    display.figure_.draw_without_rendering()
    assert legend.get_window_extent().x0 > display.ax_.get_window_extent().x1


def test_of_many_long_names_those_of_the_longest_arrows_are_written():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 40))
    names = [f"size of the loan requested by the applicant {n}" for n in range(40)]
    pca = PCA(2, standardize=True).fit(X)
    display = BiplotDisplay.from_estimator(pca, X, feature_names=names)
    display.figure_.draw_without_rendering()
    assert len(display.arrows_) == 40
    n_names = len(display.names_)
    assert 3 <= n_names < 25
    lengths = np.sort([np.hypot(*arrow.xy) for arrow in display.arrows_])
    written = np.sort([np.hypot(*name.xy) for name in display.names_])
    np.testing.assert_allclose(written, lengths[-n_names:])
    texts = [text.get_text() for text in display.ax_.texts]
    assert f"+{40 - n_names} names" in texts
    # The points still fill the figure.
    scores = pca.transform(X) / np.sqrt(pca.explained_variance_)
    assert np.ptp(display.ax_.get_xlim()) < 2 * np.ptp(scores[:, 0])


def test_chinese_names_get_a_font_that_has_them(monkeypatch):
    monkeypatch.setattr(font_manager, "get_font_names", lambda: ["SimHei"])
    lettering._find_chinese_fonts.cache_clear()
    _, ax = plt.subplots()
    ax.set_xlabel("密度")
    ax.set_yticks([1.0], ["含糖率"])
    ax.plot([1.0], label="好瓜")
    ax.legend(title="class")
    use_fonts(ax)
    texts = [ax.xaxis.label, *ax.get_yticklabels(), *ax.get_legend().get_texts()]
    assert [text.get_fontfamily()[-1] for text in texts] == ["SimHei"] * 3
    assert "SimHei" not in ax.get_legend().get_title().get_fontfamily()
    plt.close("all")
    lettering._find_chinese_fonts.cache_clear()


def test_scores_alone_and_values_as_colours(wine, pca):
    _, ax = plt.subplots()
    display = BiplotDisplay.from_estimator(
        pca,
        wine.data,
        labels=wine.data["alcohol"],
        kind="scores",
        ax=ax,
        point_kw={"s": 5},
    )
    assert display.ax_ is ax
    assert display.arrows_ == []
    np.testing.assert_allclose(display.points_[0].get_array(), wine.data["alcohol"])
    assert len(display.figure_.axes) == 2  # the other one is the scale of colours
    display.plot(legend=False)
    assert len(display.figure_.axes) == 1
    display.plot(show_circle=True, arrow_kw={"linewidth": 3.0})
    assert display.circle_.get_radius() == display.arrow_scale_
    assert display.arrows_[0].arrow_patch.get_linewidth() == 3.0


def test_constant_variables_have_no_arrow():
    X = load_iris().data.copy()
    X[:, 2] = 1.0
    display = BiplotDisplay.from_estimator(PCA(2).fit(X), X)
    assert [name.get_text() for name in display.names_] == ["x0", "x1", "x3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"components": (0, 3)}, "two integers from 0 to 2"),
        ({"components": (0,)}, "two integers from 0 to 2"),
        (
            {"labels": [0, 1]},
            "labels must have one entry per row of scores, 178 in all, got 2",
        ),
        (
            {"feature_names": ["a"]},
            "feature_names must have 13 names, one per row of loadings, got 1",
        ),
        ({"kind": "circle"}, "kind must be one of"),
    ],
)
def test_wrong_biplot(wine, pca, options, message):
    with pytest.raises(ValueError, match=message):
        BiplotDisplay.from_estimator(pca, wine.data, **options)


def test_biplot_needs_loadings_and_scores(wine, pca):
    with pytest.raises(NotFittedError):
        BiplotDisplay.from_estimator(PCA(), wine.data)
    stock = sklearn.decomposition.PCA(2).fit(wine.data)
    with pytest.raises(ValueError, match="must have loadings_, .*; got PCA"):
        BiplotDisplay.from_estimator(stock, wine.data)
    with pytest.raises(ValueError, match="kind='biplot' requires scores"):
        BiplotDisplay.from_estimator(pca, kind="biplot")
    with pytest.raises(ValueError, match="two columns"):
        BiplotDisplay(None, [[1.0]])


def test_without_matplotlib(pca, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (ScreeDisplay.from_estimator, BiplotDisplay.from_estimator):
        with pytest.raises(ImportError, match="pip install"):
            draw(pca)


@pytest.mark.parametrize("backend", ["svg", "pdf"])
def test_names_are_placed_with_every_backend(pca, wine, backend):
    canvas = {"svg": backend_svg.FigureCanvasSVG, "pdf": backend_pdf.FigureCanvasPdf}
    figure = Figure(layout="constrained")
    canvas[backend](figure)
    part = figure.subfigures(1, 2)[0]
    display = BiplotDisplay.from_estimator(pca, wine.data, ax=part.subplots())
    places = [name.get_position() for name in display.names_]
    assert len(set(places)) == len(places)
    figure.savefig(io.BytesIO(), format=backend)
