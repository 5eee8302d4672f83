"""Are oblique trees better?

Fits trees and forests with tests of one column and with tests of weighted sums to two
thirds of a table, 10 times with other training rows, and compares the accuracy on the
rows held out, and the leaves of trees. Single trees are pruned by cost complexity;
forests have 100 trees and as many random directions in a node as the square root of the
number of columns, as those of YDF and of treeple have, which are compared with ours.
``--variants`` adds ours with other settings.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from benchmarks.boosting_study import is_marked, write_for_ydf
from benchmarks.forest_study import compare_scores
from benchmarks.forests import describe_sparse_oblique
from benchmarks.measure import installed_version
from benchmarks.study_tables import Table, make_splits
from benchmarks.study_tables import make_tables as make_forest_tables
from benchmarks.treeple import find_treeple_version, predict_shares
from sklearn_textbook import ensemble, tree

N_SEEDS, N_TREES = 10, 100
#: Taken from the study of forests.
SHARED = ("wine", "breast cancer", "digits", "clusters, 10 % wrong")
MIXED = "mixed, 5 classes, 10 % missing"


# ------------------------------------------------------------------------- tables
def _from_arrays(name, X, y):
    return Table(name, pd.DataFrame(X).add_prefix("x"), np.asarray(y))


def make_waveform(n_rows=1_000, seed=0):
    """Breiman's waveforms: random mixtures of two of three triangles, and noise."""
    random = np.random.default_rng(seed)
    places = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(places - np.array([[11], [15], [7]])), 0)
    y = random.integers(3, size=n_rows)
    share = random.random((n_rows, 1))
    X = share * waves[np.array([0, 0, 1])[y]] + (1 - share) * waves[[1, 2, 2]][y]
    return X + random.normal(size=X.shape), y


def make_twonorm(n_rows=1_000, seed=0):
    """Breiman's two normal classes: their best boundary is one oblique plane."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n_rows)
    offset = 2 / np.sqrt(20) * (2 * y[:, np.newaxis] - 1)
    return random.normal(size=(n_rows, 20)) + offset, y


def make_ringnorm(n_rows=1_000, seed=0):
    """One normal class around the other: the best boundary is nearly a sphere."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n_rows)
    X = random.normal(size=(n_rows, 20))
    return np.where(y[:, np.newaxis] == 0, 2 * X, X + 2 / np.sqrt(20)), y


def make_sums(n_rows=1_500, seed=0):
    """A logit of eight numbers and two nominal columns; a cell in ten is missing."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n_rows, 8))
    levels = random.integers(6, size=(n_rows, 2))
    effects = random.normal(size=(2, 6))
    logit = 2 * numbers @ random.normal(size=8)
    logit += 2 * effects[0, levels[:, 0]] + 2 * effects[1, levels[:, 1]]
    y = (random.random(n_rows) < 1 / (1 + np.exp(-logit))).astype(int)
    X = pd.DataFrame(numbers).add_prefix("x")
    for column in range(2):
        X[f"level{column}"] = np.array(list("abcdef"))[levels[:, column]]
    return Table("sums, 10 % missing", X.mask(random.random(X.shape) < 0.1), y)


def make_tables():
    """The tables: eight of numbers, two of texts and numbers with missing values."""
    shared = {table.name: table for table in make_forest_tables()}
    yield _from_arrays("iris", *datasets.load_iris(return_X_y=True))
    yield from (shared[name] for name in SHARED)
    yield _from_arrays("waveform", *make_waveform())
    yield _from_arrays("twonorm", *make_twonorm())
    yield _from_arrays("ringnorm", *make_ringnorm())
    yield make_sums()
    yield shared[MIXED]


# ------------------------------------------------------------------------- models
def count_directions(table):
    """Directions tried in a node of a forest, as of ours with "sqrt"."""
    return int(np.sqrt(table.X.shape[1]))


def _score(model, split):
    return np.mean(model.predict(split.X_test) == split.y_test)


def score_tree(table, splits, make=tree.ObliqueTreeClassifier, **options):
    """Pruned trees: accuracy and leaves."""
    for split in splits:
        model = make(pruning="cost_complexity", random_state=split.seed, **options)
        model.fit(split.X, split.y)
        yield _score(model, split), model.get_n_leaves()


def score_forest(table, splits, make=ensemble.ObliqueRandomForestClassifier, **options):
    """Our forests: accuracy, and the mean of the leaves of a tree."""
    for split in splits:
        model = make(N_TREES, random_state=split.seed, **options)
        model.fit(split.X, split.y)
        n_leaves = [member.get_n_leaves() for member in model.estimators_]
        yield _score(model, split), np.mean(n_leaves)


def score_ydf(table, splits):
    """YDF's sparse oblique forests."""
    import ydf

    ydf.verbose(0)
    for split in splits:
        learner = ydf.RandomForestLearner(
            label="target",
            num_trees=N_TREES,
            max_depth=-1,
            min_examples=1,
            winner_take_all=False,
            compute_oob_performances=False,
            num_threads=1,
            random_seed=split.seed,
            **describe_sparse_oblique(count_directions(table)),
        )
        model = learner.train(write_for_ydf(split.X, split.y.astype(str)))
        found = model.predict(write_for_ydf(split.X_test), num_threads=1)
        if found.ndim == 1:
            found = np.column_stack((1 - found, found))
        labels = np.array(model.label_classes())[np.argmax(found, axis=1)]
        n_leaves = (model.num_nodes() / model.num_trees() + 1) / 2
        yield np.mean(labels == split.y_test.astype(str)), n_leaves


def score_treeple(table, splits):
    """treeple's oblique forests, of numbers without gaps; all in one call."""
    splits = list(splits)
    labels = np.unique(table.y)
    written = [
        {
            "X": split.X.to_numpy(float),
            "X_test": split.X_test.to_numpy(float),
            "y": np.searchsorted(labels, split.y),
        }
        for split in splits
    ]
    shares = predict_shares(written, N_TREES, count_directions(table))
    for split, found in zip(splits, shares, strict=True):
        yield np.mean(labels[np.argmax(found, axis=1)] == split.y_test), np.nan


TREES = {
    "CART": partial(score_tree, make=tree.CARTClassifier),
    **{
        name: partial(score_tree, direction=name) for name in ("lda", "logistic", "oc1")
    },
}
FORESTS = {
    "random forest": partial(score_forest, make=ensemble.RandomForestClassifier),
    "random": score_forest,
    "lda, sqrt of columns": partial(score_forest, direction="lda", max_features="sqrt"),
}
PEERS = {"YDF": score_ydf, "treeple": score_treeple}
TREE_VARIANTS = {
    "lda, prefer_axis=0.1": partial(score_tree, direction="lda", prefer_axis=0.1),
    "lda, 2 columns": partial(score_tree, direction="lda", max_features_per_split=2),
}
FOREST_VARIANTS = {
    "random, as many directions as columns": partial(score_forest, n_directions=1.0),
    "random, prefer_axis=0": partial(score_forest, prefer_axis=0.0),
}


#: Colours of Okabe and Ito, and marks, of the models in the picture.
STYLES = {
    "lda": ("#0072B2", "o"),
    "logistic": ("#009E73", "P"),
    "oc1": ("#E69F00", "v"),
    "random": ("#D55E00", "D"),
    "lda, sqrt of columns": ("#0072B2", "s"),
}


# ------------------------------------------------------------------------- results
def study_table(table, models, n_seeds=N_SEEDS):
    """Score every model on a table.

    Returns
    -------
    dict
        Name of the model -> array of shape (n_seeds, 2): accuracy and leaves. treeple
        is missing where it cannot fit the table.
    """
    splits = list(make_splits(table, n_seeds))
    is_numeric = not table.nominal and not table.X.isna().to_numpy().any()
    return {
        name: np.array(list(score(table, splits)))
        for name, score in models.items()
        if is_numeric or score is not score_treeple
    }


def format_gain(found):
    """A difference and its standard error, in per cent; a mark if it is large."""
    mark = "" if not is_marked(found) else " +" if found.mean > 0 else " −"
    mean = f"{100 * found.mean:+.1f}".replace("-", "−")
    return f"({mean} ± {100 * found.error:.1f}){mark}"


def _format_rows(header, rows):
    yield ".. csv-table::"
    for cells in (header, *rows):
        line = ", ".join(f'"{cell}"' for cell in cells)
        yield "   :header: " + line if cells is header else "   " + line
        if cells is header:
            yield ""


def format_trees(studies):
    """Trees: accuracy, gain over CART with its standard error, and leaves."""
    first, *others = [n for n in (TREES | TREE_VARIANTS) if n in studies[0][1]]
    rows = []
    for table, results in studies:
        scores, leaves = results[first].T
        cells = [table.name, f"{100 * scores.mean():.1f}; {leaves.mean():.1f}"]
        for name in others:
            other, leaves = results[name].T
            gain = format_gain(compare_scores(other, scores))
            cells.append(f"{100 * other.mean():.1f} {gain}; {leaves.mean():.1f}")
        rows.append(cells)
    return _format_rows(["table", first, *others], rows)


def format_forests(studies):
    """Forests: accuracy, and the gain of the oblique ones over the random forest.

    Of peers the accuracy, and the gain of our random directions over theirs.
    """
    own = [n for n in (FORESTS | FOREST_VARIANTS) if n in studies[0][1]]
    peers = [n for n in PEERS if any(n in results for _, results in studies)]
    rows = []
    for table, results in studies:
        scores = {name: values[:, 0] for name, values in results.items()}
        cells = [table.name, f"{100 * scores[own[0]].mean():.1f}"]
        for name in (*own[1:], *peers):
            if name not in scores:
                cells.append("—")
                continue
            pair = scores[name], scores[own[0]]
            if name in peers:
                pair = scores["random"], scores[name]
            gain = format_gain(compare_scores(*pair))
            cells.append(f"{100 * scores[name].mean():.1f} {gain}")
        rows.append(cells)
    return _format_rows(["table", *own, *peers], rows)


def write_json(path, studies):
    """Write every score."""
    content = {
        table.name: {name: values.tolist() for name, values in results.items()}
        for table, results in studies
    }
    Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def print_verdicts(studies):
    """Say against which peers our random directions are better or worse."""
    for peer in PEERS:
        found = [
            compare_scores(results["random"][:, 0], results[peer][:, 0])
            for _, results in studies
            if peer in results
        ]
        gains = [one.mean > 0 for one in found if is_marked(one)]
        if found:
            print(
                f"{peer}: of {len(found)} differences ours is better in {sum(gains)} "
                f"and worse in {len(gains) - sum(gains)}"
            )


def _draw_gains(ax, studies, models):
    """Draw the gains over the first model with their standard errors."""
    first, *others = models
    for number, name in enumerate(others):
        color, mark = STYLES[name]
        for place, (_, results) in enumerate(studies):
            found = compare_scores(results[name][:, 0], results[first][:, 0])
            ax.errorbar(
                100 * found.mean,
                place + 0.2 * (number - (len(others) - 1) / 2),
                xerr=100 * found.error,
                color=color,
                marker=mark,
                markersize=5,
                linewidth=0.8,
                linestyle="none",
                label=name if place == 0 else None,
            )
    ax.axvline(0.0, color="black", linewidth=0.8)


def draw_picture(studies, path):
    """Draw what oblique tests gain in trees and in forests, and the leaves of trees."""
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(11, 0.42 * len(studies) + 1.6), sharey=True, layout="constrained"
    )
    places = np.arange(len(studies))
    _draw_gains(left, studies, TREES)
    left.set_xlabel("trees: gain over CART, points")
    for name in TREES:
        color, mark = STYLES.get(name, ("black", "|"))
        leaves = [results[name][:, 1].mean() for _, results in studies]
        style = {"color": color, "marker": mark, "linestyle": "none"}
        label = name if name == "CART" else None
        middle.plot(leaves, places, label=label, markersize=6, **style)
    middle.set_xscale("log")
    middle.set_xticks([2, 5, 10, 20, 50, 100], ["2", "5", "10", "20", "50", "100"])
    middle.set_xticks([], minor=True)
    middle.set_xlabel("trees: leaves")
    _draw_gains(right, studies, FORESTS)
    right.set_xlabel("forests: gain over the random forest, points")
    for ax in (left, middle, right):
        ax.set_ylim(len(studies) - 0.5, -0.5)
        for place in places[1:] - 0.5:
            ax.axhline(place, color="#DADCE0", linewidth=0.6)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)
    left.set_yticks(places, [table.name for table, _ in studies])
    figure.savefig(path, dpi=120)
    plt.close(figure)


def choose_models(with_variants):
    """The models at hand."""
    versions = {"YDF": installed_version("ydf"), "treeple": find_treeple_version()}
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        print("not at hand, left out:", *missing)
    variants = TREE_VARIANTS | FOREST_VARIANTS if with_variants else {}
    models = TREES | FORESTS | PEERS | variants
    return {name: score for name, score in models.items() if name not in missing}


def main(arguments=None):
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study oblique", description=__doc__
    )
    parser.add_argument("--seeds", type=int, default=N_SEEDS, metavar="N")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--variants", action="store_true", help="other settings, too")
    parser.add_argument("--json", metavar="FILE", help="write all scores here")
    parser.add_argument("--picture", metavar="FILE", help="draw the results, too")
    options = parser.parse_args(arguments)
    tables = [t for t in make_tables() if t.name in (options.tables or [t.name])]
    if not tables:
        parser.error("no such table; " + ", ".join(t.name for t in make_tables()))
    models, studies = choose_models(options.variants), []
    for table in tables:
        studies.append((table, study_table(table, models, options.seeds)))
        if options.json:
            write_json(options.json, studies)
    print("\n".join([*format_trees(studies), "", *format_forests(studies)]))
    print_verdicts(studies)
    if options.picture:
        draw_picture(studies, options.picture)
