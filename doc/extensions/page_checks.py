"""What holds for every page that was built: it needs no network, and no code is cut."""

import re
from html import unescape
from pathlib import Path

from sphinx.errors import ExtensionError

#: Columns of code that fit into the page in a window of 1280 pixels (page.css).
MOST_COLUMNS = 99
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=\"((?:https?:)?//[^\"]+)"
)
#: What examples print is wrapped (page.css).
WRAPPED = re.compile(r"sphx-glr-script-out.*?</pre>", re.DOTALL)
CODE = re.compile(r"<pre\b[^>]*>(.*?)</pre>", re.DOTALL)


def find_faults(page):
    """Find what a page loads from the network, and its lines of code that are cut."""
    faults = [f"loads {address}" for address in LOADED.findall(page)]
    for block in CODE.findall(WRAPPED.sub("", page)):
        for line in unescape(re.sub(r"<[^>]*>", "", block)).splitlines():
            if len(line.rstrip()) > MOST_COLUMNS:
                faults.append(f"has a line of {len(line)} columns: {line}")
    return faults


def check_pages(app, exception):
    """Refuse the build if a page has faults."""
    if exception is not None or app.builder.format != "html":
        return
    pages = [Path(app.outdir, f"{name}.html") for name in app.env.found_docs]
    faults = [
        f"{page.relative_to(app.outdir)} {fault}"
        for page in pages
        for fault in find_faults(page.read_text("utf-8"))
    ]
    if faults:
        raise ExtensionError("\n".join(faults))


def setup(app):
    app.connect("build-finished", check_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
