"""Takes tree_page.png, a picture of the page of a tree; run it in this directory.

It needs selenium, Chromium and its driver.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from sklearn_textbook.datasets import load_play_tennis
from sklearn_textbook.tree import C45Classifier, to_html

tennis = load_play_tennis(as_frame=True)
tree = C45Classifier().fit(tennis.data, tennis.target)
options = webdriver.ChromeOptions()
service = Service(shutil.which("chromedriver"))
for switch in ("headless=new", "no-sandbox", "hide-scrollbars"):
    options.add_argument(f"--{switch}")
with TemporaryDirectory() as folder, webdriver.Chrome(options, service) as browser:
    path = Path(folder) / "tree.html"
    to_html(tree, path, title="Play tennis")
    metrics = {"width": 1220, "height": 640, "deviceScaleFactor": 1.1}
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {**metrics, "mobile": False}
    )
    browser.get(path.as_uri())
    for label in browser.find_elements(By.CSS_SELECTOR, "#row .field"):
        name = label.find_element(By.TAG_NAME, "bdi").text
        if name in ("humidity", "windy"):
            field = label.find_element(By.CSS_SELECTOR, "input, select")
            field.send_keys({"humidity": "high", "windy": "true"}[name])
    browser.find_element(By.CSS_SELECTOR, "#node-1 .test").click()
    browser.find_element(By.ID, "fit").click()
    browser.save_screenshot("tree_page.png")
