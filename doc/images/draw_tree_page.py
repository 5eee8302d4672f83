"""Takes pictures of the pages of two trees; run it in this directory.

tree_page.png: a tree of the play-tennis table. loans.png: a pruned tree of the loans.
It needs selenium, Chromium and its driver.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from sklearn_textbook.datasets import load_credit, load_play_tennis
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CostComplexityPruning,
    to_html,
)

tennis = load_play_tennis(as_frame=True)
loans = load_credit(as_frame=True)
small = CostComplexityPruning(rule="1se", scoring="gini", random_state=0)
options = webdriver.ChromeOptions()
service = Service(shutil.which("chromedriver"))
for switch in ("headless=new", "no-sandbox", "hide-scrollbars"):
    options.add_argument(f"--{switch}")


def take_picture(browser, folder, tree, title, row, node, width, height, name):
    """Type a row into the page of a tree, choose a node and take a picture."""
    path = Path(folder) / "tree.html"
    to_html(tree, path, title=title)
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1.1}
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {**metrics, "mobile": False}
    )
    browser.get(path.as_uri())
    for label in browser.find_elements(By.CSS_SELECTOR, "#row .field"):
        text = label.find_element(By.TAG_NAME, "bdi").text
        if text in row:
            field = label.find_element(By.CSS_SELECTOR, "input, select")
            field.send_keys(row[text])
    browser.find_element(By.CSS_SELECTOR, f"#node-{node} .test").click()
    browser.find_element(By.ID, "fit").click()
    browser.save_screenshot(name)


with TemporaryDirectory() as folder, webdriver.Chrome(options, service) as browser:
    take_picture(
        browser,
        folder,
        C45Classifier().fit(tennis.data, tennis.target),
        "Play tennis",
        {"humidity": "high", "windy": "true"},
        1,
        1220,
        640,
        "tree_page.png",
    )
    take_picture(
        browser,
        folder,
        CARTClassifier(pruning=small).fit(loans.data, loans.target),
        "Loans",
        {"records": "no", "seniority": "1", "job": "fixed", "home": "owner"},
        0,
        1280,
        680,
        "loans.png",
    )
