"""The file of a report: what is refused before the fit, and its frame."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from sklearn_textbook._contract.written_files import check_writable, write_file
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.html_report.elements import Html, join, make
from sklearn_textbook.cli.output_files import refuse_overwriting

_SUFFIXES = (".html", ".htm")
#: Makes the browser refuse scripts, fonts and other files.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def require_report(path: str | None, others: dict[str, list[str]]) -> None:
    """Refuse a report that cannot be written or is also the file of another option."""
    if path is None:
        return
    place = Path(path)
    if place.suffix.lower() not in _SUFFIXES:
        refuse_use(f"--report {path}: the file must have the ending .html")
    try:
        check_writable(path)
    except IsADirectoryError:
        refuse_use(f"--report {path}: this is a folder")
    except FileNotFoundError:
        refuse_use(f"--report {path}: the folder {str(place.parent)!r} does not exist")
    except PermissionError:
        refuse_use(f"--report {path}: cannot be written (no permission)")
    except OSError as error:
        refuse_use(f"--report {path}: cannot be written ({error.strerror})")
    refuse_overwriting("--report", path, others)
    if find_spec("matplotlib") is None:
        raise ImportError(
            "--report requires matplotlib: pip install matplotlib",
            name="matplotlib",
        )


def write_report(path: str, title: str, sections: list[tuple[str, Html]]) -> None:
    """Write a page of headings and contents.

    The first content precedes the list of sections and has no heading.
    """
    (_, head), *others = sections
    names = [f"section-{number}" for number in range(len(others))]
    links = [
        make("li", make("a", heading, href=f"#{name}"))
        for name, (heading, _) in zip(names, others, strict=True)
    ]
    parts = [
        make("section", make("h2", heading, id=name), content, aria_labelledby=name)
        for name, (heading, content) in zip(names, others, strict=True)
    ]
    body = make(
        "body",
        make("header", make("h1", title), head),
        make("nav", make("ul", *links), aria_label="sections"),
        make("main", *parts),
    )
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    page = make("html", _make_head(title, Html(style)), body, lang="en")
    try:
        write_file(path, f"<!DOCTYPE html>\n{page}\n")
    except OSError as error:
        refuse_use(f"--report {path}: cannot be written ({error.strerror})")


def _make_head(title, style):
    return make(
        "head",
        make("meta", charset="utf-8"),
        make("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        make("meta", name="viewport", content="width=device-width, initial-scale=1"),
        make("meta", name="color-scheme", content="light dark"),
        make("title", title),
        join(make("style", style)),
    )
