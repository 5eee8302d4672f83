"""Pages of trees in a browser without a screen: clicks, keys, search, rows, speed."""

import itertools
import shutil
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    ObliqueTreeClassifier,
    to_html,
)

pytest.importorskip("selenium")

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.browser_logs import check_logs

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="chromium and chromedriver are not installed"
)
SWITCHES = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-dev-shm-usage"),
]
IRIS = load_iris(as_frame=True)
SPECIES = IRIS.target_names[IRIS.target]
#: Keeps how long each drawing takes; the page itself measures nothing.
TIMER = """
window.frameWork = [];
const request = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (draw) => request((now) => {
  const start = performance.now();
  draw(now);
  window.frameWork.push(performance.now() - start);
});
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    profile = tmp_path_factory.mktemp("profile")
    for switch in [*SWITCHES, f"--user-data-dir={profile}"]:
        options.add_argument(switch)
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    # The page of a new tab may still load parts of itself.
    driver.get("about:blank")
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": TIMER})
    yield driver
    driver.quit()


@pytest.fixture
def show(browser, tmp_path):
    """Open the page of a model; afterwards, nothing went wrong or out."""
    browser.get_log("browser")
    browser.get_log("performance")

    def open_page(model, size=(1280, 800), theme="light", **options):
        path = tmp_path / "model.html"
        to_html(model, path, **options)
        set_view(browser, size, theme)
        browser.get(path.as_uri())
        return Shown(browser, path.as_uri())

    yield open_page
    check_logs(browser)


def set_view(browser, size, theme, **media):
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1}
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {**metrics, "mobile": width < 500}
    )
    media = {"prefers-color-scheme": theme, "prefers-reduced-motion": "reduce", **media}
    features = [{"name": name, "value": value} for name, value in media.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


class Shown:
    """A page that is open."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address
        self.settle()

    def settle(self):
        """Wait until what was asked for is drawn."""
        self.browser.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        )

    def get(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def list(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        """Texts of all that a selector finds, in one call."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])]"
            ".map((found) => found.textContent)",
            selector,
        )

    def nodes(self, selector=".node"):
        """Numbers of the boxes that are drawn as elements."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])]"
            ".map((box) => Number(box.dataset.node))",
            selector,
        )

    def click(self, selector):
        self.get(selector).click()
        self.settle()

    def press(self, *keys):
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)
        self.settle()

    def fill(self, selector, text):
        field = self.get(selector)
        field.clear()
        field.send_keys(text)
        self.settle()

    def enter(self, column, value):
        """Type a value of the row, or choose a level."""
        field = next(
            label
            for label in self.list("#row .field")
            if label.find_element(By.TAG_NAME, "bdi").text == column
        )
        entry = field.find_element(By.CSS_SELECTOR, "input, select")
        if entry.tag_name == "select":
            Select(entry).select_by_visible_text(value)
        else:
            entry.send_keys(value)
        self.settle()

    def pull(self, dx, dy):
        """Drag the drawing."""
        box = self.get("#diagram").rect
        start = ActionChains(self.browser, duration=0).move_to_element_with_offset(
            self.get("#diagram"), -box["width"] // 2 + 12, -box["height"] // 2 + 12
        )
        start.click_and_hold().move_by_offset(dx, dy).release().perform()
        self.settle()

    def place(self, node):
        box = self.browser.execute_script(
            "return arguments[0].getBoundingClientRect().toJSON()",
            self.get(f"#node-{node}"),
        )
        return SimpleNamespace(**box)


def iris_tree(**options):
    return CARTClassifier(max_depth=4, **options).fit(IRIS.data, SPECIES)


def large_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12000, 5))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=12000)).round().clip(-1, 1)
    return CARTClassifier(max_leaf_nodes=2501).fit(X, y)


LARGE = large_tree()


def fractional_tree():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 300, p=[0.5, 0.3, 0.2]),
            "x": rng.normal(size=300),
        }
    )
    y = np.where((frame["colour"] == "red") ^ (frame["x"] > 0.5), "yes", "no")
    frame.loc[::20, "colour"] = None
    return C45Classifier(handle_unknown="fractional").fit(frame, y)


# ------------------------------------------------------------------ tree and mouse
def test_small_tree_is_shown_whole(show):
    model = iris_tree()
    page = show(model, title="Iris <b>")
    assert page.get("h1").text == "Iris <b>"
    assert sorted(page.nodes()) == list(range(model.tree_.node_count))
    leaves = sorted(page.nodes(".node.leaf"))
    assert leaves == np.flatnonzero(model.tree_.is_leaf).tolist()
    assert page.texts("#node-1 .edge bdi, #node-1 .test") == ["<= 2.45", "setosa"]
    boxes = [page.place(node) for node in (1, 2)]
    assert boxes[0].y == boxes[1].y
    assert boxes[0].right < boxes[1].left


def test_labels_have_two_lines_and_count_the_levels_left_out(show):
    places = [f"{n} valleys of the northern hills" for n in range(60)]
    classes = ["1st"] * 30 + ["2nd"] * 30
    table = pd.DataFrame({"place": places * 2, "class": classes * 2})
    page = show(CARTClassifier(max_depth=2).fit(table[["place"]], table["class"]))
    labels = page.texts("#node-1 .edge bdi, #node-2 .edge bdi")
    assert labels[0] == "0 valleys of the…, 1 valleys of the…, +28 more"
    shapes = page.browser.execute_script(
        "return [...document.querySelectorAll('.node')].slice(1).flatMap((box) => {"
        "  const text = box.querySelector('.edge bdi'), edge = text.parentElement;"
        "  return [text.scrollHeight - text.clientHeight, text.clientHeight,"
        "    box.getBoundingClientRect().top - edge.getBoundingClientRect().bottom]; })"
    )
    assert shapes[:3] == [0, pytest.approx(34, abs=1), pytest.approx(4, abs=1)]


def test_hints_of_fields_are_not_cut(show):
    for size in ((1280, 800), (390, 844)):
        page = show(iris_tree(), size=size)
        free = page.browser.execute_script(
            "const field = document.querySelector('#query');"
            "const pen = document.createElement('canvas').getContext('2d');"
            "const style = getComputedStyle(field);"
            "pen.font = style.font;"
            "return field.clientWidth - 40 - pen.measureText(field.placeholder).width"
        )
        assert free > 0


def test_no_two_boxes_overlap(show):
    page = show(LARGE)
    page.click("#open-all")
    page.fill("#query", "#2000")
    page.press(Keys.ENTER)
    boxes = page.browser.execute_script(
        "return [...document.querySelectorAll('.node')].map((box) => {"
        "  const { left, right, top } = box.getBoundingClientRect();"
        "  return [Math.round(top), left, right]; })"
    )
    assert len(boxes) > 10
    boxes.sort()
    for one, other in itertools.pairwise(boxes):
        assert one[0] != other[0] or one[2] < other[1]


def test_click_selects_and_shows_rule_and_distribution(show):
    model = iris_tree()
    page = show(model, class_names=["S", "E", "I"])
    page.click("#node-4 .test")
    report = page.get("#node").text
    assert "#4 predicts I" in report
    assert "petal length (cm) > 2.45" in report
    assert "petal width (cm) > 1.75" in report
    assert "46 rows (30.7%)" in report
    assert page.texts("#node th") == ["I", "E", "S"]
    assert page.texts("#node .number") == ["97.8%", "2.2%", "0%"]
    assert page.get("#node-4").get_attribute("aria-selected") == "true"
    assert page.get("#node-0").get_attribute("aria-selected") == "false"


def test_hover_shows_rule_and_distribution(show):
    page = show(iris_tree())
    assert not page.get("#tip").is_displayed()
    box = page.get("#node-3 .test")
    ActionChains(page.browser, duration=0).move_to_element(box).perform()
    tip = page.get("#tip")
    assert tip.is_displayed()
    assert "petal width (cm) <= 1.75" in tip.text
    assert "90.7%" in tip.text
    ActionChains(page.browser, duration=0).move_to_element(page.get("h1")).perform()
    assert not tip.is_displayed()


def test_collapse_and_expand_by_the_button(show):
    model = iris_tree()
    page = show(model)
    before = page.place(2)
    page.click("#node-2 .test")
    page.click("#node-2 .more")
    assert sorted(page.nodes()) == [0, 1, 2]
    n_below = model.tree_.node_count - 3
    assert page.texts("#node-2 .more") == [f"+{n_below}"]
    assert page.get("#node-2").get_attribute("aria-expanded") == "false"
    assert abs(page.place(2).x - before.x) < 1  # it stays where it is
    page.click("#node-2 .more")
    assert len(page.nodes()) == model.tree_.node_count
    page.click("#close-all")
    assert page.nodes() == [0]
    page.click("#open-all")
    assert len(page.nodes()) == model.tree_.node_count


def test_drag_wheel_and_buttons_move_the_view(show):
    page = show(iris_tree())
    before = page.place(0)
    page.pull(60, 25)
    moved = page.place(0).x - before.x, page.place(0).y - before.y
    assert moved == pytest.approx((60, 25), abs=0.01)
    assert page.get("#node-0").get_attribute("aria-selected") == "true"
    page.click("#larger")
    assert page.place(0).width > before.width
    page.click("#smaller")
    assert page.place(0).width == pytest.approx(before.width, abs=1)
    origin = page.get("#node-0")
    wheel = webdriver.common.actions.wheel_input.ScrollOrigin.from_element(origin)
    ActionChains(page.browser).scroll_from_origin(wheel, 0, -300).perform()
    page.settle()
    assert page.place(0).width > before.width
    page.pull(500, 300)
    page.click("#fit")
    view = page.get("#diagram").rect
    boxes = [page.place(node) for node in page.nodes()]
    assert len(boxes) == iris_tree().tree_.node_count
    assert min(box.left for box in boxes) >= 0
    assert max(box.right for box in boxes) <= view["width"]
    assert max(box.bottom for box in boxes) <= 800


# ------------------------------------------------------------------------ keyboard
def focused(page):
    return page.browser.execute_script("return document.activeElement.id")


def test_keys_of_a_tree(show):
    model = iris_tree()
    page = show(model)
    page.click("#node-0 .test")
    assert focused(page) == "node-0"
    path = []
    for key in (
        *(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_LEFT),
        *(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.END, Keys.HOME),
    ):
        page.press(key)
        path.append(focused(page))
    # The fourth closes node 3, the next goes to its parent, which closes, and its
    # parent; the end is then the closed node 2.
    assert path[:4] == ["node-1", "node-2", "node-3", "node-3"]
    assert path[4:] == ["node-2", "node-2", "node-0", "node-2", "node-0"]
    page.press(Keys.ENTER)
    assert page.nodes() == [0]
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert focused(page) == "node-1"
    page.press("/")
    assert focused(page) == "query"


def test_words_for_a_screen_reader(show):
    page = show(iris_tree())
    tree = page.get("[role=tree]")
    assert tree.accessible_name == "CARTClassifier"
    box = page.get("#node-2")
    assert box.aria_role == "treeitem"
    name = box.accessible_name
    assert name.startswith("petal length (cm) > 2.45; tests petal width (cm)")
    names = ("level", "setsize", "posinset", "expanded", "selected")
    found = [box.get_attribute(f"aria-{name}") for name in names]
    assert found == ["2", "2", "2", "true", "false"]
    assert page.nodes("[role=treeitem][tabindex='0']") == [0]
    # In the order of the keyboard, whenever they were made.
    order = page.nodes()
    page.click("#close-all")
    page.click("#open-all")
    assert page.nodes() == order
    unnamed = page.browser.execute_script(
        "return [...document.querySelectorAll('button, input, select')].filter((one) =>"
        " !(one.textContent.trim() || one.ariaLabel || one.labels?.length))"
        ".map((one) => one.outerHTML)"
    )
    assert unnamed == []


def test_focus_is_visible_and_in_the_view(show):
    page = show(LARGE)
    page.click("#node-0 .test")
    for _ in range(12):
        page.press(Keys.ARROW_RIGHT)
        box = page.browser.switch_to.active_element.rect
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 950
        assert 80 <= box["y"] <= 800 - box["height"]
    style = "return getComputedStyle(document.activeElement).outlineStyle"
    assert page.browser.execute_script(style) == "solid"


# ---------------------------------------------------------------- search and filter
def test_search_by_column_class_level_and_number(show):
    page = show(fractional_tree())
    for text in ("colour", "yes", "GREEN", "#1"):
        page.fill("#query", text)
        count = int(page.get("#found").text.split()[0])
        assert count == len(page.nodes(".node.match")) > 0
    assert page.nodes(".node.match") == [1]
    page.fill("#query", "nothing like it")
    assert page.get("#found").text == "0 found"
    assert page.nodes(".node.match") == []


def test_search_opens_the_path_to_a_match(show):
    page = show(LARGE)
    assert 4000 not in page.nodes()
    page.fill("#query", "#4000")
    page.press(Keys.ENTER)
    assert page.nodes(".node.match") == [4000]
    assert page.get("#node-4000").get_attribute("aria-selected") == "true"
    page.fill("#query", "x3")
    page.press(Keys.ENTER, Keys.ENTER)
    assert page.get("#found").text.startswith("2 of ")
    page.click("#previous")
    assert page.get("#found").text.startswith("1 of ")


def test_filter_by_class_and_weight(show):
    model = iris_tree()
    page = show(model)
    page.get("#wanted").send_keys("setosa")
    page.settle()
    assert sorted(set(page.nodes()) - set(page.nodes(".node.dim"))) == [0, 1]
    page.click("#hide")
    assert page.nodes() == [0, 1]
    page.get("#wanted").send_keys("All classes")
    page.fill("#least", "40")
    kept = np.flatnonzero(model.tree_.nodes["weight"] >= 40).tolist()
    assert sorted(page.nodes()) == kept
    page.fill("#least", "1000")
    assert page.get("#empty").is_displayed()
    page.click("#hide")
    assert len(page.nodes(".node.dim")) == model.tree_.node_count


def test_found_node_that_the_filter_hides_is_shown(show):
    page = show(iris_tree())
    page.get("#wanted").send_keys("setosa")
    page.click("#hide")
    assert page.nodes() == [0, 1]
    page.fill("#query", "#4")
    page.press(Keys.ENTER)
    assert page.nodes("[aria-selected=true]") == [4]
    assert not page.get("#hide").is_selected()


# ----------------------------------------------------------------------------- rows
def test_typed_row_expands_its_path_and_names_its_squares(show):
    page = show(LARGE)
    start = set(page.nodes())
    values = {f"x{n}": 0.3 for n in range(5)}
    for name, value in values.items():
        page.enter(name, str(value))
    row = np.array([list(values.values())])
    path = LARGE.decision_path(row).indices.tolist()
    assert not set(path) <= start  # some were collapsed
    # The whole path is in the view, with its conditions where boxes are too small.
    names = dict(
        page.browser.execute_script(
            "return [...document.querySelectorAll('#names bdi')].map((name) => {"
            "  const view = document.querySelector('#diagram').getBoundingClientRect();"
            "  const { left, top, bottom } = name.getBoundingClientRect();"
            "  const isIn = left < view.right && top > view.top;"
            "  const text = isIn && bottom < view.bottom && name.textContent;"
            "  return [Number(name.dataset.node), text]; })"
        )
    )
    assert sorted(names) == path
    assert all(names.values())
    assert names[0] == "12,000 rows"
    assert names[path[1]].startswith("x1 <= ")
    assert names[path[-1]].endswith(f"\u2192 {LARGE.predict(row)[0]}")
    assert page.get("#result .strong").text == str(LARGE.predict(row)[0])
    # The focus stays where the row is typed.
    assert page.browser.switch_to.active_element.get_attribute("data-column") == "4"
    page.click("#clear")
    assert page.texts("#names bdi") == []
    page.click("#fit")
    assert set(page.nodes()) == start  # what the row expanded is collapsed


def test_as_much_is_open_as_fits_the_window(show):
    boxes = {}
    for size in ((900, 700), (1280, 800), (1900, 1100)):
        page = show(LARGE, size=size)
        view = page.browser.execute_script(
            "return document.querySelector('#diagram').getBoundingClientRect().toJSON()"
        )
        places = [page.place(node) for node in page.nodes()]
        assert all(p.left >= view["left"] and p.right <= view["right"] for p in places)
        assert all(p.bottom <= view["bottom"] for p in places)
        boxes[size] = len(places)
        # Most of the height is used.
        used = max(p.bottom for p in places) - min(p.top for p in places)
        assert used > 0.6 * view["height"]
    assert sorted(boxes.values()) == list(boxes.values())
    assert boxes[1900, 1100] > 1.5 * boxes[900, 700]


def test_distributions_of_the_tested_columns(show):
    model = iris_tree()
    page = show(model, X=IRIS.data, y=SPECIES)
    split = np.flatnonzero(~model.tree_.is_leaf)
    assert sorted(page.nodes(".node:has(svg)")) == split.tolist()
    titles = page.texts("#node-0 rect title")
    assert sum(int(text.split(": ")[1].split()[0]) for text in titles) == 150
    assert "50 setosa" in " ".join(titles) or len(titles) > 3
    assert page.texts("#node-0 .ends bdi") == ["1", "6.9"]
    (mark,) = page.browser.execute_script(
        "return [...document.querySelectorAll('#node-0 line.mark')]"
        ".map((mark) => mark.getBoundingClientRect().left)"
    )
    chart = page.place(0)
    assert chart.left < mark < chart.right
    page.click("#node-2 .test")
    assert len(page.list("#node svg")) == 1
    assert page.list("#tip svg") == []
    # Nothing overlaps: the bar of the classes is below the chart.
    bottom, top = page.browser.execute_script(
        "const part = (name) => document.querySelector('#node-2 ' + name)"
        ".getBoundingClientRect(); return [part('.chart').bottom, part('.bar').top]"
    )
    assert bottom <= top


def test_typed_row_lights_its_path(show):
    model = iris_tree()
    page = show(model)
    page.enter("petal length (cm)", "5.1")
    page.enter("petal width (cm)", "1.6")
    page.enter("sepal length (cm)", "6.0")
    row = pd.DataFrame([[6.0, 3.0, 5.1, 1.6]], columns=list(IRIS.data))
    path = model.decision_path(row).indices.tolist()
    assert sorted(page.nodes(".node.lit")) == path
    assert page.get("#result .strong").text == model.predict(row)[0]
    assert f"#{path[-1]}" in page.get("#result").text
    page.click("#result .link")
    assert focused(page) == f"node-{path[-1]}"
    page.enter("petal width (cm)", "x")
    assert "not valid" in page.get("#result").text
    assert page.nodes(".node.lit") == []
    page.click("#clear")
    assert page.get("#result").text == ""


def test_fractions_of_a_divided_row(show):
    model = fractional_tree()
    page = show(model)
    page.enter("x", "0.1")
    row = pd.DataFrame({"colour": [None], "x": [0.1]}).astype({"colour": object})
    lit = page.nodes(".node.lit")
    assert sorted(lit) == model.decision_path(row).indices.tolist()
    parts = page.texts(".node.lit .part")
    assert sum("%" in text for text in parts) >= 3
    (proba,) = model.predict_proba(row)
    shown = dict(
        zip(page.texts("#result th"), page.texts("#result .number"), strict=True)
    )
    for name, share in zip(model.classes_, proba, strict=True):
        assert float(shown[name].rstrip("%")) == pytest.approx(100 * share, abs=0.051)
    page.enter("colour", "(unknown level)")
    assert page.nodes(".node.lit") == lit  # divided in the same way
    page.enter("colour", "green")
    assert len(page.nodes(".node.lit")) < len(lit)


def test_row_of_an_oblique_tree(show):
    model = ObliqueTreeClassifier(random_state=0).fit(IRIS.data, SPECIES)
    page = show(model)
    row = IRIS.data.iloc[[100]]
    for name in page.texts("#row bdi"):
        page.enter(name, str(row[name].iloc[0]))
    assert page.get("#result .strong").text == model.predict(row)[0]


# --------------------------------------------------------------------------- forest
def test_forest_is_a_list_of_trees(show):
    model = RandomForestClassifier(n_estimators=7, random_state=0)
    model.fit(IRIS.data, SPECIES)
    page = show(model, max_trees=6)
    assert "Left out of this file: 1 tree" in page.get("#summary").text
    assert len(page.list("#trees button")) == 6
    assert page.get("#trees [aria-current=true] bdi").text == "tree 0"
    for name, value in zip(IRIS.data, (6.0, 3.0, 5.0, 1.7), strict=True):
        page.enter(name, str(value))
    rows = pd.DataFrame([[6.0, 3.0, 5.0, 1.7]], columns=list(IRIS.data))
    members = [member.tree_.value[member.apply(rows)] for member in model.estimators_]
    classes = [model.classes_[value[0, 0].argmax()] for value in members[:6]]
    assert page.texts("#trees .answer") == [f"\u2192 {name}" for name in classes]
    lit = page.nodes(".node.lit")
    page.click("#trees li:nth-child(4) button")
    assert page.get("#summary").text.startswith("tree 3: ")
    assert page.get("#trees [aria-current=true] bdi").text == "tree 3"
    member = model.estimators_[3]
    assert (
        sorted(page.nodes(".node.lit")) == member.decision_path(rows).indices.tolist()
    )
    assert lit


# ------------------------------------------------------------------ colours and names
def background(page, selector):
    style = "return getComputedStyle(arguments[0]).backgroundColor"
    text = page.browser.execute_script(style, page.get(selector))
    return sum(map(float, text[text.index("(") + 1 : -1].replace(",", " ").split()[:3]))


def test_light_and_dark(show):
    page = show(iris_tree(), theme="dark")
    assert background(page, "body") < 150
    assert background(page, "#node-0") < 250
    set_view(page.browser, (1280, 800), "light")
    page.settle()
    assert background(page, "body") > 600
    assert background(page, "#node-0") > 600
    assert page.get("#theme").text == "Dark"
    page.click("#theme")
    assert background(page, "#node-0") < 250
    set_view(page.browser, (1280, 800), "dark")
    page.click("#theme")
    assert background(page, "body") > 600


CONTRAST = """
const light = (color) => {
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parts = color.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255);
  const [r, g, b] = parts.map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
return [...document.querySelectorAll(".node .test, .node .size")].map((text) => {
  const a = light(getComputedStyle(text).color);
  const b = light(getComputedStyle(text.parentNode).backgroundColor);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
});
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_on_coloured_boxes_has_contrast(show, theme):
    classes = [f"class {number}" for number in range(12)]
    X = np.arange(24.0)[:, None]
    model = CARTClassifier().fit(X, np.repeat(classes, 2))
    page = show(model, size=(3000, 2000), theme=theme)
    page.click("#open-all")
    assert len(page.nodes()) == 23
    assert min(page.browser.execute_script(CONTRAST)) >= 4.5


def test_names_are_text(show):
    evil = ["<img src=x onerror=alert(1)>", "</script><b>", 'שלום "x"', "😀&amp;列"]
    table = pd.DataFrame(IRIS.data.to_numpy(), columns=evil)
    model = CARTClassifier().fit(table, np.array(evil[:3])[IRIS.target])
    page = show(model, title="<i>title</i>")
    assert page.get("h1").text == "<i>title</i>"
    assert page.list("main img, main b:not(.part), h1 i") == []
    assert set(page.texts(".node .test")) <= set(evil)
    page.fill("#query", "שלום")
    assert page.nodes(".node.match")


def test_levels_beyond_a_list_are_typed(show):
    rng = np.random.default_rng(0)
    levels = np.array([f"town {number}" for number in range(300)])
    table = pd.DataFrame({"town": levels[rng.integers(0, 300, 3000)]})
    y = (table["town"].str[-1].astype(int) < 5).to_numpy()
    model = CARTClassifier().fit(table, y)
    page = show(model)
    page.enter("town", "town 7")
    assert page.get("#result .strong").text == "false"
    page.enter("town", "0")
    assert page.get("#result .strong").text == "true"
    page.fill("#query", "town 123")
    assert page.nodes(".node.match")


def test_narrow_screen(show):
    page = show(iris_tree(), size=(390, 800))
    widths = "return [document.documentElement.scrollWidth, innerWidth]"
    assert page.browser.execute_script(widths) == [390, 390]
    assert page.place(0).left >= 0
    assert page.place(0).right <= 390
    diagram, aside = page.get("#diagram").rect, page.get("aside").rect
    assert aside["y"] >= diagram["y"] + diagram["height"]


# ---------------------------------------------------------------------------- speed
def test_five_thousand_nodes_move_without_stutter(show):
    page = show(LARGE)
    assert LARGE.tree_.node_count == 5001
    assert len(page.nodes()) < 60  # collapsed at first
    start = time.monotonic()
    page.click("#open-all")
    assert time.monotonic() - start < 5
    assert len(page.nodes()) == 1  # the others are drawn on the canvas
    work = page.browser.execute_async_script(
        """
        const [done] = arguments;
        const host = document.getElementById("diagram");
        window.frameWork.length = 0;
        const send = (type, more) => host.dispatchEvent(
          new WheelEvent(type, { clientX: 400, clientY: 130, ...more }));
        let step = 0;
        const next = () => {
          send("wheel", { deltaY: step < 60 ? -60 : 60 });
          if (++step < 120) setTimeout(() => requestAnimationFrame(next), 0);
          else done(window.frameWork);
        };
        next();
        """
    )
    assert len(work) > 100
    assert np.median(work) < 16
    n_elements = page.browser.execute_script(
        "return document.querySelectorAll('*').length"
    )
    assert n_elements < 2000


def test_single_leaf(show):
    page = show(CARTClassifier(max_depth=1).fit(IRIS.data, SPECIES[:1].repeat(150)))
    assert page.texts(".node .test") == ["setosa"]
    assert not page.get("#row-part").is_displayed()
    page.click("#open-all")
    page.click("#node-0 .test")
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.END, Keys.ENTER)
    assert page.nodes() == [0]


def test_deep_trees_open(show):
    X = np.arange(1500.0)[:, None]
    model = CARTClassifier(splitter="best").fit(X, np.arange(1500) % 2)
    page = show(model)
    page.click("#open-all")
    page.press(Keys.END)
    assert page.get("#empty").is_displayed() is False


def test_notebook_frame_works_in_a_page(show, browser, tmp_path):
    model = iris_tree()
    show(model)
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html>{model._repr_html_()}", encoding="utf-8")
    browser.get(path.as_uri())
    browser.execute_script("document.querySelector('details:has(iframe)').open = true")
    frame = browser.find_element(By.TAG_NAME, "iframe")
    browser.execute_script("arguments[0].scrollIntoView()", frame)
    browser.switch_to.frame(frame)
    deadline = time.monotonic() + 10
    while not browser.find_elements(By.CSS_SELECTOR, "#node-1"):
        assert time.monotonic() < deadline
    assert len(browser.find_elements(By.CSS_SELECTOR, ".node")) >= 3
    browser.switch_to.default_content()
