"""Takes report.png, two parts of a report in the browser; run it in this directory.

Needs selenium with Chromium, and pillow.
"""

import base64
import contextlib
import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver
from sklearn.datasets import load_wine

from sklearn_textbook.cli import main

WIDTH, HEIGHT = 900, 1_700
wine = load_wine(as_frame=True)
table = wine.data.assign(cultivar=wine.target_names[wine.target])
options = webdriver.ChromeOptions()
options.binary_location = shutil.which("chromium")
for argument in (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
):
    options.add_argument(argument)


def take(driver, top):
    """Take a part of the page from some height on."""
    clip = {"x": 0, "y": top, "width": WIDTH, "height": HEIGHT, "scale": 1}
    given = {"captureBeyondViewport": True, "clip": clip}
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", given)["data"]
    return Image.open(io.BytesIO(base64.b64decode(taken)))


with tempfile.TemporaryDirectory() as folder:
    page = Path(folder, "wine.html")
    table.to_csv(page.with_name("wine.csv"), index=False)
    with contextlib.chdir(folder):
        main(["fit", "wine.csv", "--target", "cultivar", "--report", page.name])
    options.add_argument(f"--user-data-dir={folder}/profile")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options, service)
    size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(page.as_uri())
    place = "return document.getElementById('section-2').getBoundingClientRect().top"
    parts = [take(driver, 0), take(driver, driver.execute_script(place) - 20)]
    driver.quit()
picture = Image.new("RGB", (2 * WIDTH + 12, HEIGHT), "#d0d7de")
for number, part in enumerate(parts):
    picture.paste(part, (number * (WIDTH + 12), 0))
picture = picture.resize((1_360, round(HEIGHT * 1_360 / picture.width)), Image.LANCZOS)
picture.quantize(128, Image.Quantize.MAXCOVERAGE).save("report.png", optimize=True)
