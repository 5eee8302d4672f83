"""The pages of the documentation keep step with the package."""

import importlib
import importlib.util
import re
from html import unescape
from pathlib import Path

import pytest

from sklearn_textbook.cli import errors
from sklearn_textbook.cli.app import app
from tests.loops import loop_over
from tests.public_api import listed_names, public_objects

DOC = Path(__file__).parents[1] / "doc"


def test_reference_lists_every_public_object():
    assert set(public_objects()) <= set(listed_names("index.rst"))


def test_reference_lists_internals_apart():
    inner = listed_names("developers.rst")
    assert inner
    assert not set(inner) & set(public_objects())
    everything = listed_names("index.rst") + inner
    assert len(everything) == len(set(everything))


def test_reference_links_to_the_guide():
    find_guide = load_extension("api_links").find_guide
    for name in listed_names("index.rst"):
        assert (DOC / "user_guide" / f"{find_guide(name)}.rst").exists(), name
    assert find_guide("sklearn_textbook.tree.C45Classifier") == "id3_c45"


def test_inventories_have_the_names_of_other_projects():
    names = dict(
        load_extension("api_links").list_names(["sklearn.tree", "sklearn.base"])
    )
    assert names["sklearn.tree.DecisionTreeClassifier"] == "py:class"
    assert names["sklearn.tree.plot_tree"] == "py:function"
    assert names["sklearn.base.clone"] == "py:function"
    assert not any("._" in name for name in names)


def load_extension(name):
    """Import a module of the documentation's own Sphinx extensions."""
    path = DOC / "extensions" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def all_formulas(split_lines):
    """The formulas of the pages and of the docstrings."""
    package = Path(importlib.import_module("sklearn_textbook").__file__).parent
    for path in [*DOC.rglob("*.rst"), *package.rglob("*.py")]:
        text = path.read_text("utf-8")
        yield from re.findall(r":math:`([^`]+)`", text)
        block = r"^( *)\.\. math::(.*\n(?:\1 +.*\n|\s*\n)+)"
        for _, formula in re.findall(block, text, re.MULTILINE):
            yield from split_lines(formula)


def font_characters():
    """What page.css says the font of formulas has."""
    style = (DOC / "_static" / "page.css").read_text("utf-8")
    for part in re.search("unicode-range: ([^;]*);", style)[1].split(","):
        start, _, end = part.strip().removeprefix("U+").partition("-")
        yield from map(chr, range(int(start, 16), int(end or start, 16) + 1))


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml")
    pytest.importorskip("sphinx")
    extension = load_extension("mathml")
    formulas = {*all_formulas(extension.split_lines)}
    assert len(formulas) > 300
    characters = {*font_characters()}
    for formula in formulas:
        rendered = extension.render(formula, "inline")
        assert rendered.startswith("<math")
        symbols = "".join(re.findall("<m[ino][^>]*>([^<]*)<", rendered))
        assert {*unescape(symbols)} <= characters, formula
    errors = importlib.import_module("sphinx.errors")
    for unknown in (r"\unheardof{x}", "x &= 1"):
        with pytest.raises(errors.ExtensionError, match="cannot be converted"):
            extension.render(unknown, "inline")


def test_aligned_formulas_are_one_table():
    pytest.importorskip("latex2mathml")
    pytest.importorskip("sphinx")
    extension = load_extension("mathml")
    (table,) = extension.split_lines("x &= 1 \\\\ y &= 2\n\n zz &= 3\n")
    rendered = extension.render(table, "block")
    assert rendered.count("<mtr>") == 3
    assert rendered.count("<mtd>") == 6
    assert 'class="aligned"' in rendered
    assert extension.split_lines("x = 1\n\n y = 2\n") == ["x = 1", "y = 2"]


def test_font_of_formulas_comes_with_its_licence():
    folder = DOC / "_static" / "fonts"
    names = re.findall(r"fonts/([\w.]+)", (DOC / "_static/page.css").read_text("utf-8"))
    assert {path.name for path in folder.iterdir()} == {*names, "OFL.txt"}


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<script src="https://a.org/b.js"></script>', "loads https://a.org/b.js"),
        ('<link rel="stylesheet" href="//a.org/b.css">', "loads //a.org/b.css"),
        (f"<pre>{'x' * 100}\n</pre>", "has a line of 100 columns"),
        ('<pre><span class="n">' + "&lt;" * 99 + "</span></pre>", None),
        (f'<div class="sphx-glr-script-out"><pre>{"x" * 200}</pre></div>', None),
        ('<a href="https://a.org">a</a><img src="b.png">', None),
    ],
)
def test_faults_of_pages(page, fault):
    pytest.importorskip("sphinx")
    found = load_extension("page_checks").find_faults(page)
    assert len(found) == (fault is not None)
    assert fault is None or found[0].startswith(fault)


def unnamed_blocks(text):
    """The blocks after "::", which conf.py highlights as shell."""
    block = r"(?:^|[^:\n])::\n\n((?: +.*\n|\n)+)"
    directive = r"^( *)\.\. .*::.*\n(?:\1 +.*\n|\n)*"
    plain = re.sub(directive, "\n", text, flags=re.MULTILINE)
    return re.findall(block, plain, re.MULTILINE)


def test_blocks_of_python_are_named():
    n_blocks = 0
    for path in [*DOC.glob("*.rst"), *DOC.glob("user_guide/*.rst")]:
        for block in unnamed_blocks(path.read_text("utf-8")):
            n_blocks += 1
            is_python = re.search(r"^ *(?:from|import) |\w\(", block, re.MULTILINE)
            assert not is_python, (path.name, block)
    assert n_blocks > 15


def command_options():
    """The long options of all commands."""
    names = {
        name
        for command in app.commands.values()
        for parameter in command.params
        for name in [*parameter.opts, *parameter.secondary_opts]
    }
    return sorted(name for name in names if name.startswith("--"))


@pytest.mark.parametrize("name", command_options())
def test_guide_names_every_option(name):
    page = (DOC / "user_guide" / "command_line.rst").read_text("utf-8")
    assert re.search(rf"``{name}[` ]", page)


def test_guide_names_every_exit_code():
    page = (DOC / "user_guide" / "command_line.rst").read_text("utf-8")
    documented = re.findall(r"^(\d+) +\w", page, re.MULTILINE)
    codes = [value for value in vars(errors).values() if isinstance(value, int)]
    assert sorted(map(int, documented)) == sorted(codes)


def glossary_places():
    """What the glossary's last column names: modules, objects, folders."""
    page = (DOC / "glossary.rst").read_text("utf-8")
    last_cells = [line.rpartition(",")[2] for line in page.splitlines()]
    return sorted(set(re.findall(r"``([\w./]+)``", "\n".join(last_cells))))


@loop_over("name", glossary_places())
def test_glossary_names_what_exists(name):
    path, _, attribute = name.replace("/", ".").rpartition(".")
    module = importlib.import_module(".".join(filter(None, ["sklearn_textbook", path])))
    tree = importlib.import_module("sklearn_textbook.tree")
    estimator = tree.CARTClassifier
    owners = (module, tree, estimator, estimator())
    is_module = importlib.util.find_spec(f"{module.__name__}.{attribute}") is not None
    assert is_module or any(hasattr(owner, attribute) for owner in owners)


def test_page_of_the_books_names_tests_that_exist():
    page = (DOC / "user_guide" / "books.rst").read_text("utf-8")
    named = set(re.findall(r"``([a-z_/]+\.py)``", page))
    tests = Path(__file__).parent
    assert all((tests / name).is_file() for name in named)
    golden = (tests / "golden").glob("test_*.py")
    assert {f"golden/{path.name}" for path in golden} <= named
