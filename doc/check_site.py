"""Look at the built site in a browser: ``python doc/check_site.py HTML_FOLDER``.

Nothing is off the screen of a telephone, the header is a single line and the page
contents are visible at common widths, and the site's own search answers questions.
Requires selenium, Chromium and chromedriver.
"""

import shutil
import sys
import time
from pathlib import Path
from urllib.parse import quote

from selenium import webdriver

#: What people type, and the pages of which one must be among the first three found.
QUESTIONS = {
    "class weights": {"class_weights"},
    "imbalanced": {"class_weights"},
    "multi-output": {"multi_output"},
    "migrate": {"from_r", "from_weka", "from_lightgbm"},
    "export to ONNX": {"exports", "deploy", "faq"},
    "categorical features": {"faq", "table"},
    "missing values": {"table", "trees", "faq"},
    "save model": {"faq", "files", "deploy"},
    "prediction intervals": {"prediction_intervals"},
    "grid search": {"pipelines"},
    "out of memory": {"memory"},
    "hyperparameter tuning": {"tuning"},
    "feature importance": {"understand", "ensembles"},
    "J48": {"from_weka", "id3_c45"},
    "rpart": {"from_r"},
    "GPU": {"limits"},
    "西瓜": {"datasets", "books"},
}
#: Elements that stick out of the screen, though not in a box that can be scrolled.
OFF_SCREEN = """
const width = document.documentElement.clientWidth;
function scrolls(element) {
  for (let box = element.parentElement; box; box = box.parentElement) {
    if (box.matches('.bd-article-container, .bd-content, .bd-main, body')) return false;
    if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
  }
  return false;
}
return [...document.querySelectorAll('.bd-article *, .bd-header *')].filter(element => {
  const {right, width: size, height} = element.getBoundingClientRect();
  return right > width + 1 && size && height > 1 && !scrolls(element);
}).map(element => element.outerHTML.slice(0, 80));
"""
HEADER = "return document.querySelector('.bd-header').getBoundingClientRect().height"
CONTENTS = "return document.querySelector('.bd-toc')?.checkVisibility() ?? false"
HITS = (
    "return [...document.querySelectorAll('#search-results li > a')].map(a => a.href)"
)


class Window:
    """A browser whose window has the size of a screen."""

    def __init__(self, folder):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("headless=new", "no-sandbox", "allow-file-access-from-files"):
            options.add_argument(f"--{argument}")
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.browser = webdriver.Chrome(options, service)
        self.folder = folder

    def resize(self, width):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1}
        command = "Emulation.setDeviceMetricsOverride"
        self.browser.execute_cdp_cmd(command, {**size, "mobile": width < 600})

    def run(self, script, page=None):
        if page is not None:
            self.browser.get(f"{self.folder.as_uri()}/{page}")
        return self.browser.execute_script(script)

    def search(self, question, seconds=20):
        """The pages found, best first, when their list no longer grows."""
        self.browser.get("about:blank")
        hits = self.run(HITS, f"search.html?q={quote(question)}")
        stop, same_since = time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < stop and (
            not hits or time.monotonic() < same_since + 1
        ):
            time.sleep(0.1)
            found = self.run(HITS)
            if found != hits:
                hits, same_since = found, time.monotonic()
        return [Path(hit.partition("#")[0].partition("?")[0]).stem for hit in hits]


def find_faults(folder):
    """Yield what is wrong, as lines of text."""
    window = Window(folder)
    try:
        window.resize(390)
        for path in sorted(folder.rglob("*.html")):
            page = path.relative_to(folder).as_posix()
            if not page.startswith("_"):
                for element in window.run(OFF_SCREEN, page)[:3]:
                    yield f"{page}: off the screen of a telephone: {element}"
        for width in (1200, 1280, 1499):
            window.resize(width)
            if not window.run(CONTENTS, "user_guide/trees.html"):
                yield f"no page contents at {width} pixels"
            height = window.run(HEADER)
            if width >= 1280 and height > 90:
                yield f"the header has {height} pixels at a width of {width}"
        for question, pages in QUESTIONS.items():
            hits = window.search(question)
            if not pages & {*hits[:3]}:
                yield f"search {question!r}: {hits[:3]}, not {sorted(pages)}"
    finally:
        window.browser.quit()


if __name__ == "__main__":
    faults = list(find_faults(Path(sys.argv[1]).resolve()))
    print("\n".join(faults) or "the site is as it should be")
    sys.exit(bool(faults))
