"""``fit --report``: the numbers of the terminal, in a page that needs no network."""

import re
import shutil
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

from sklearn_textbook._contract.html import make
from sklearn_textbook.cli.blocks import Summary
from sklearn_textbook.cli.html_report.elements import write_blocks
from sklearn_textbook.cli.html_report.figures import group_probabilities
from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.io import load_model
from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.tree import CARTClassifier
from tests.browser_logs import check_logs

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
VOID = {"meta", "br"}


class Page(HTMLParser):
    """A page, read: tags must be balanced and ids unique."""

    def __init__(self, path):
        super().__init__()
        self.source = Path(path).read_text("utf-8")
        self.open, self.ids, self.urls, self.tables = [], [], [], []
        self.headings, self.text, self.labels = [], "", []
        self.feed(self.source)
        self.close()
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag, attributes):
        self.note(tag, dict(attributes))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag in ("h1", "h2", "h3"):
            self.headings.append("")

    def handle_startendtag(self, tag, attributes):
        self.note(tag, dict(attributes))

    def note(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe", "object")
        assert not any(name.startswith("on") for name in attributes)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.labels += [attributes["aria-label"]] if tag == "svg" else []
        self.urls += [attributes[n] for n in ("href", "src") if n in attributes]
        if tag == "th":
            assert attributes["scope"] in ("row", "col")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if {"td", "th"} & set(self.open[-3:]):
            self.tables[-1][-1][-1] += data
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings[-1] += data

    def find_table(self, *heads):
        """The rows of the table with these headers, by their first cell."""
        (rows,) = (t for t in self.tables if [*filter(str.strip, t[0])] == [*heads])
        return {row[0]: row[1:] for row in rows[1:]}


@pytest.fixture
def report(command):
    """Fit with a report; give the page and what the terminal shows."""

    def run(frame, target, *options):
        frame.to_csv("table.csv", index=False)
        given = ["--target", target] if target else []
        out = command("fit", "table.csv", *given, *options, "--report", "page.html")
        assert out.endswith("report in page.html\n")
        page = Page("page.html")
        assert all(url.startswith("#") for url in page.urls)
        assert {url[1:] for url in page.urls} <= set(page.ids)
        assert not re.search(r"https?:|url\((?!#)|@import", page.source)
        assert page.policy.startswith("default-src 'none';")
        return page, out

    return run


def breast_cancer():
    data = load_breast_cancer(as_frame=True)
    names = data.target_names[data.target]
    return data.data.assign(kind=names)


def mixed(n_samples=150, n_classes=2, **options):
    X, y = make_mixed_table(
        n_samples,
        as_frame=True,
        missing_fraction=0.1,
        n_classes=n_classes,
        random_state=1,
        **options,
    )
    return X.assign(label=y)


def terminal_table(out, title):
    """Lines of the terminal below a heading, split into cells."""
    block = re.split(r"\n\n", out.split(f"\n{title}", 1)[1])[0].split("\n")[1:]
    return [re.split(r"\s{2,}", line.strip()) for line in block]


# ------------------------------------------------------------------- numbers
def test_scores_are_those_of_the_terminal(report):
    page, out = report(breast_cancer(), "kind", "--cv", 5)
    scores = page.find_table("accuracy", "kappa", "AUC")
    lines = terminal_table(out, "scores")[1:]
    assert len(lines) == 3
    for name, *cells in lines:
        assert [cell for cell in scores[name] if cell] == cells
    confusions = page.find_table("true \\ predicted", "benign", "malignant")
    for name, *cells in terminal_table(out, "confusion matrix")[1:]:
        assert confusions[name] == cells
    classes = page.find_table("class", "precision", "recall", "F1", "rows")
    for name, *cells in terminal_table(out, "classes")[1:]:
        assert classes[name] == cells
    shares = page.find_table("column", "share")
    for name, share, *_ in terminal_table(out, "importances")[1:-1]:
        assert shares[name][0] == share


@pytest.mark.parametrize("weight", [False, True])
def test_scores_of_all_rows_are_those_of_scikit_learn(report, weight):
    frame = breast_cancer()
    options = ["--cv", 4, "--algorithm", "random-forest", "--trees", 12, "--seed", 3]
    weights = None
    if weight:
        weights = np.random.default_rng(0).integers(1, 4, len(frame))
        frame = frame.assign(w=weights)
        options += ["--weight", "w"]
    page, _ = report(frame, "kind", *options)
    X, y = frame.drop(columns=["kind", "w"], errors="ignore"), frame["kind"].to_numpy()
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    shares = cross_val_predict(
        RandomForestClassifier(12, random_state=3),
        *(X, y),
        cv=folds,
        method="predict_proba",
        params=None if weights is None else {"sample_weight": weights},
    )
    predicted = np.array(["benign", "malignant"])[shares.argmax(1)]
    balanced = balanced_accuracy_score(y, predicted, sample_weight=weights)
    loss = log_loss(y, shares, sample_weight=weights)
    measured = page.find_table("accuracy", "balanced accuracy", "log loss")
    cells = measured["cross-validated"]
    assert cells[1:3] == [f"{balanced:.3f}", f"{loss:.3f}"]
    confusions = page.find_table("true \\ predicted", "benign", "malignant")
    expected = confusion_matrix(y, predicted, sample_weight=weights)
    assert [*confusions.values()] == [[f"{n:.0f}" for n in row] for row in expected]
    area = roc_auc_score(y == "malignant", shares[:, 1], sample_weight=weights)
    assert f"malignant: AUC {area:.3f}" in page.text


def test_errors_of_numbers_are_those_of_scikit_learn(report):
    frame = load_diabetes(as_frame=True).frame
    page, out = report(frame, "target", "--algorithm", "linear", "--cv", 5)
    X, y = frame.drop(columns="target"), frame["target"]
    folds = KFold(5, shuffle=True, random_state=0)
    predicted = cross_val_predict(LinearRegression(), X, y, cv=folds)
    tables = [t for t in page.tables if t[0][1:4] == ["R2", "RMSE", "MAE"]]
    printed, together = tables
    assert together[1][1] == f"{r2_score(y, predicted):.3f}"
    assert together[1][2] == f"{root_mean_squared_error(y, predicted):.5g}"
    for line, row in zip(terminal_table(out, "scores")[1:], printed[1:], strict=True):
        assert [cell for cell in row if cell] == line
    coef = LinearRegression().fit(X, y).coef_
    (table,) = (t for t in page.tables if t[0][:2] == ["column", "coef"])
    assert [float(row[1]) for row in table[2:]] == pytest.approx(coef, rel=1e-3)
    assert {"Actual against predicted values"} <= set(page.labels)


def test_calibration_groups_rows_by_probability():
    shares = np.linspace(0.0, 1.0, 601)
    is_class = shares > 0.5
    weights = np.where(is_class, 2.0, 1.0)
    means, frequencies, totals = group_probabilities(is_class, shares, weights)
    assert len(means) == 10
    assert totals.sum() == weights.sum()
    assert frequencies[[0, 4, 6, 9]].tolist() == [0.0, 0.0, 1.0, 1.0]
    bins = np.minimum((shares * 10).astype(int), 9)
    assert means[3] == pytest.approx(shares[bins == 3].mean())


# ------------------------------------------------------------ every kind of model
CLASSIFIERS = [
    *("cart", "id3", "c45", "c45-rules", "oblique-tree", "random-forest"),
    *("oblique-forest", "extra-trees", "bagging", "random-subspace", "adaboost"),
    *("output-codes", "output-smearing", "gradient-boosting"),
]
REGRESSORS = [
    *("cart", "oblique-tree", "boosting-tree", "gradient-boosting", "linear"),
    *("generalized-linear", "negative-correlation", "bayesian-model-averaging"),
]


@pytest.mark.parametrize("algorithm", CLASSIFIERS)
def test_classifiers_on_text_and_gaps(report, algorithm):
    options = ["--algorithm", algorithm, "--cv", 2]
    is_many = algorithm not in ("cart", "id3", "c45", "c45-rules", "oblique-tree")
    if is_many and algorithm != "output-codes":
        options += ["--trees", 4]
    page, _ = report(mixed(n_classes=3), "label", *options)
    columns = page.find_table("column", "kind", "missing", "values")
    assert columns["nominal_0"][0] == "nominal"
    assert int(columns["nominal_0"][1]) > 0
    has_curves = "ROC: cross-validated" in page.headings
    assert has_curves == (algorithm != "output-codes")
    assert ("Calibration: cross-validated" in page.headings) == has_curves
    is_tree = algorithm in ("cart", "id3", "c45", "oblique-tree")
    assert ("Tree" in page.headings) == is_tree
    assert ("Rules" in page.headings) == (is_tree or algorithm == "c45-rules")
    assert ("Importances" in page.headings) == (algorithm != "c45-rules")
    assert any(label.startswith("The tree") for label in page.labels) == is_tree
    has_path = any(label.startswith("Risk of the pruned") for label in page.labels)
    assert has_path == (algorithm in ("cart", "oblique-tree"))
    assert not any("coef" in table[0] for table in page.tables)
    assert "majority-class baseline" in page.text
    assert ("Each curve is one-vs-rest." in page.text) == has_curves


@pytest.mark.parametrize("algorithm", REGRESSORS)
def test_regressors(report, algorithm):
    frame = load_diabetes(as_frame=True).frame[:120]
    options = ["--cv", 2, "--algorithm", algorithm]
    if "boosting" in algorithm:
        options += ["--trees", 5]
    if algorithm == "negative-correlation":
        options += ["--set", "member=linear"]
    page, _ = report(frame, "target", *options)
    assert "mean baseline" in page.text
    assert "Errors: cross-validated" in page.headings
    assert "Residuals against predicted values" in page.labels
    assert any(label.startswith("Distribution of target") for label in page.labels)
    assert not any("ROC" in heading for heading in page.headings)
    has_coefficients = any("coef" in table[0] for table in page.tables)
    assert has_coefficients == (algorithm in ("linear", "generalized-linear"))


@pytest.mark.parametrize(
    "options",
    [
        ["logistic"],
        ["maximum-entropy"],
        ["lda"],
        ["voting", "--member", "c45", "--member", "lda"],
        ["voting", "--member", "c45", "--set", "voting=hard"],
        ["stacking", "--member", "c45", "--member", "lda"],
        ["bayesian-model-averaging", "--member", "c45", "--member", "lda"],
    ],
    ids=" ".join,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_linear_models_and_combinations(report, options):
    wine = load_wine(as_frame=True)
    frame = wine.data.iloc[:, :4].assign(kind=wine.target_names[wine.target])
    page, _ = report(frame, "kind", "--cv", 3, "--algorithm", *options)
    assert "ROC: cross-validated" in page.headings
    assert ("Ensemble" in page.headings) == ("--member" in options)
    assert "malic_acid" in page.text
    assert "class_2: AUC" in page.text


def test_components(report):
    frame = load_wine(as_frame=True).data
    page, out = report(frame, None, "--algorithm", "pca")
    headings = ["Data", "Components", "Loadings", "Settings"]
    assert [*filter(str.strip, page.headings)][1:] == headings
    assert len(page.labels) == 2
    shares = page.find_table("variance", "share", "cumulative")
    for name, *cells in terminal_table(out, "components")[1:4]:
        assert shares[name] == cells


def test_long_pruning_path_makes_no_large_page(report):
    rng = np.random.default_rng(0)
    x = rng.normal(size=3_000)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(0, 0.01, len(x))})
    page, out = report(frame, "y", "--cv", 0)
    assert re.search(r"30 of \d,\d{3} around the chosen one", page.text)
    assert len(page.source) < 300_000
    leaves = re.search(r"CARTRegressor, (\d+) leaves", out)[1]
    assert f"chosen: {leaves} leaves" in page.text


# ----------------------------------------------------------------- small and odd
def test_one_class_missing_in_a_fold(report):
    frame = pd.DataFrame({"x": np.arange(12.0), "y": [*"aaaaabbbbbcc"]})
    page, _ = report(frame, "y", "--cv", 4, "--keep", "x")
    assert "some folds are without it" in page.text
    assert page.find_table("accuracy", "balanced accuracy", "log loss")


def test_without_rows_to_judge(report):
    frame = mixed(60)
    page, _ = report(frame, "label", "--cv", 0)
    assert page.find_table("accuracy", "kappa", "AUC")
    assert not any("Confusion" in heading for heading in page.headings)
    frame.to_csv("test.csv", index=False)
    page, out = report(frame, "label", "--cv", 0, "--test", "test.csv")
    confusions = page.find_table("true \\ predicted", "0", "1")
    for name, *cells in terminal_table(out, "confusion matrix")[1:]:
        assert confusions[name] == cells


def test_test_table_with_a_class_of_its_own(report):
    frame = mixed(80)
    test = frame.head(20).copy()
    test.loc[:3, "label"] = 7
    test.to_csv("test.csv", index=False)
    page, _ = report(frame, "label", "--cv", 0, "--test", "test.csv")
    measured = page.find_table("accuracy", "balanced accuracy", "log loss")
    assert measured["test"][2] == "-"
    assert "7" in page.find_table("true \\ predicted", "0", "1", "7")


def test_tree_without_a_split(report):
    frame = pd.DataFrame({"x": [1.0, 2.0] * 10, "y": ["a", "a", "b", "b"] * 5})
    page, _ = report(
        frame, "y", "--set", "max_depth=1", "--full", "--set", "min_samples_leaf=15"
    )
    assert "The tree has no split" in page.text


def test_many_classes(report):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 26, 300)
    frame = pd.DataFrame({"x": labels + rng.normal(0, 0.3, 300), "y": labels})
    frame["y"] = [f"class {chr(65 + label)}" for label in labels]
    page, _ = report(frame, "y", "--cv", 3, "--algorithm", "c45")
    assert page.text.count(": AUC ") == 6
    assert "20 smaller classes are left out" in page.text
    assert page.find_table("true", "predicted", "rows")
    assert "... and 6 smaller classes" in page.text


NAMES = ['</script><script>alert("1")</script>', "价格 & 'x'", "$a$ <b> %", "a&amp;b"]


def test_names_are_escaped(report):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 4)).round(3), columns=NAMES)
    classes = np.array(["<是>", '"否" & $', "</svg>"])
    frame = X.assign(**{"目标<i>": classes[X.to_numpy()[:, :3].argmax(1)]})
    page, _ = report(frame, "目标<i>", "--cv", 3, "--full")
    assert page.headings[0] == "目标<i>: CARTClassifier"
    columns = page.find_table("column", "kind", "missing", "values")
    assert list(columns) == NAMES
    for name in classes:
        assert f"{name}: AUC" in page.text
    assert "<script" not in page.source
    page, _ = report(X, NAMES[2], "--algorithm", "linear", "--cv", 3)
    assert page.headings[0] == f"{NAMES[2]}: LinearRegression"


def test_same_fit_gives_the_same_page(report):
    first, _ = report(mixed(60), "label", "--cv", 2)
    second, _ = report(mixed(60), "label", "--cv", 2)
    assert first.source == second.source


def test_settings_and_model_file(report):
    options = ["--set", "max_depth=3", "--save", "model.json", "--cv", 2, "--seed", 5]
    page, _ = report(mixed(), "label", *options)
    settings = page.find_table("parameter", "value", "default")
    assert settings["max_depth"] == ["3", "None"]
    assert settings["random_state"] == ["5", "None"]
    assert "min_samples_leaf" not in settings
    assert load_model("model.json").max_depth == 3


# ------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("page.txt", "the file must have the ending .html"),
        ("nowhere/page.html", "the folder 'nowhere' does not exist"),
        ("folder.html", "this is a folder"),
        ("table.html", "this is also the file of TABLE"),
        ("model.html", "this is also the file of --save"),
    ],
)
@pytest.mark.parametrize("algorithm", ["cart", "pca"])
def test_impossible_files_are_refused_before_the_fit(
    command, monkeypatch, path, reason, algorithm
):
    Path("folder.html").mkdir()
    mixed(30).to_csv("table.html", index=False)
    monkeypatch.setattr(CARTClassifier, "fit", None)
    arguments = ["fit", "table.html", "--algorithm", algorithm, "--target", "label"]
    arguments += ["--save", "model.html", "--report", path]
    assert reason in command(*arguments, code=2)
    assert not Path("model.html").exists()


def test_file_without_permission(command, monkeypatch):
    mixed(30).to_csv("table.csv", index=False)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    arguments = ["fit", "table.csv", "--target", "label", "--report", "page.html"]
    assert "cannot be written (no permission)" in command(*arguments, code=2)


def test_full_disk_is_one_line(command, monkeypatch):
    def refuse(number):
        raise OSError(28, "No space left on device")

    mixed(30).to_csv("table.csv", index=False)
    monkeypatch.setattr("os.fsync", refuse)
    arguments = ["fit", "table.csv", "--target", "label", "--report", "page.html"]
    message = command(*arguments, "--cv", 0, code=2)
    assert "page.html: cannot be written (No space left on device)" in message


def test_without_matplotlib(command, monkeypatch):
    place = "sklearn_textbook.cli.html_report.file.find_spec"
    monkeypatch.setattr(place, lambda name: None)
    arguments = ["fit", "nowhere.csv", "--target", "y", "--report", "page.html"]
    message = command(*arguments, code=2)
    assert "pip install matplotlib" in message


def test_existing_report_is_replaced(report):
    Path("page.html").write_text("old")
    page, _ = report(mixed(30), "label", "--cv", 0)
    assert "old" not in page.headings[0]


def test_elements_escape_text_and_attributes():
    element = make("a", "<&>", href='"x"', class_=None, aria_label="l")
    assert element == '<a href="&quot;x&quot;" aria-label="l">&lt;&amp;&gt;</a>'
    model = SimpleNamespace(summary=lambda width: "<one>\ntwo")
    written = write_blocks(["<&>", Summary(model)])
    assert written.startswith("<p>&lt;&amp;&gt;</p>")
    assert unescape(written).endswith("<pre><one>\ntwo</pre></div>")


# ------------------------------------------------------------------------ browser
@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    places = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in places:
        pytest.skip("no Chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = places[0]
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic"),
        *("--no-first-run", "--disable-background-networking"),
        *("--disable-component-update", "--disable-sync"),
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(argument)
    kinds = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", kinds)
    service = webdriver.ChromeService(places[1])
    driver = webdriver.Chrome(options, service)
    yield driver
    driver.quit()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_in_a_browser(report, browser, width, scheme):
    report(mixed(n_classes=3), "label", "--cv", 2)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("performance")
    browser.get(Path("page.html").resolve().as_uri())
    check_logs(browser)
    # The page itself does not scroll to the side; wide tables do, in their boxes.
    shown = browser.execute_script(
        "const root = document.documentElement;"
        "return [root.scrollWidth, root.clientWidth, document.querySelectorAll('h2')"
        ".length, getComputedStyle(document.body).color,"
        "getComputedStyle(document.querySelector('figure svg text')).fill,"
        "getComputedStyle(document.querySelectorAll('figure svg')[1]).color]"
    )
    assert shown[0] <= shown[1]
    assert shown[2] == 4
    assert shown[3] == shown[5]  # figures have the colour of the text
    assert (shown[3] == "rgb(230, 237, 243)") == (scheme == "dark")


def test_scores_that_are_chosen(report):
    options = ("--cv", "3", "--scoring", "f1_macro,log_loss")
    page, out = report(breast_cancer(), "kind", *options)
    scores = out[out.index("\nscores\n") :].splitlines()
    (line,) = (line for line in scores if line.startswith("cross-validated "))
    cells = re.split("  +", line)
    rows = page.find_table("F1 macro", "log loss")
    assert rows["cross-validated"] == cells[1:]
    assert re.search(r"cross-validatedF1 macro 0\.9\d+ ± .*, log loss ", page.text)
    for explanation in ("F1 macroharmonic mean of", "log lossmean of minus"):
        assert explanation in page.text
