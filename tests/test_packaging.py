"""What the package promises to those who install it: README, version, metadata."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import sklearn_textbook
from benchmarks.real_tables import format_table

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

#: An installed package is tested from a copy of the tests without the source.
with_source = pytest.mark.skipif(
    not (ROOT / "sklearn_textbook").is_dir(), reason="the source is not here"
)


def readme_command(mark):
    """The shell command between two marks of the README, as .ci/run reads it."""
    block = rf"<!-- {mark} -->\n```sh\n(.*?)```\n<!-- end -->"
    (text,) = re.findall(block, README, re.S)
    return text.strip()


def test_version_has_one_source():
    version = re.escape(sklearn_textbook.__version__)
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    for name in ("pyproject.toml", "setup.py", "README.md", "doc/conf.py"):
        assert not re.search(version, (ROOT / name).read_text("utf-8")), name


def test_one_sentence_says_what_this_is():
    (sentence,) = re.findall(r"^Decision trees, .*? explained\.", README, re.M | re.S)
    index = (ROOT / "doc" / "index.rst").read_text("utf-8")
    for text in (PROJECT["description"], index):
        assert " ".join(sentence.split()) in " ".join(text.split())


@pytest.mark.parametrize("mark", ["use", "test"])
def test_readme_commands_start_from_nothing(mark):
    first, second, *_ = readme_command(mark).split(" && ")
    assert first == "python3 -m venv .venv"
    assert shlex.split(second)[:2] == [".venv/bin/pip", "install"]


def test_readme_installs_extras_that_exist():
    named = re.findall(r'"(?:sklearn-textbook|\.)\[([\w,]+)\]"', README)
    assert named
    for extras in named:
        assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_hints_name_what_can_be_installed():
    """Not extras of this package, which may have been built from a checkout."""
    required = [
        re.match(r"[\w-]+", requirement)[0].lower()
        for requirements in PROJECT["optional-dependencies"].values()
        for requirement in requirements
    ]
    folder = Path(sklearn_textbook.__file__).parent
    hints = [
        name
        for path in folder.rglob("*.py")
        for names in re.findall(r"pip install ([\w -]+)", path.read_text("utf-8"))
        for name in names.split()
    ]
    assert {"matplotlib", "onnx", "openpyxl", "pyarrow", "shap"} <= set(hints)
    assert set(hints) <= set(required) - {"sklearn-textbook"}


def test_ci_runs_the_command_of_the_readme():
    assert "readme_command test" in (ROOT / ".ci" / "run").read_text("utf-8")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@with_source
def test_readme_main_command_works(tmp_path):
    *_, command = readme_command("use").split(" && ")
    program, action, table, *options = shlex.split(command)
    assert program == ".venv/bin/sklearn-textbook"
    result = subprocess.run(
        [sys.executable, "-m", "sklearn_textbook", action, ROOT / table, *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "cross-validated" in result.stdout
    (report,) = tmp_path.iterdir()
    assert report.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_readme_python_example_prints_what_is_shown(capsys):
    example = re.compile(r"```python\n(.*?)```.*?```text\n(.*?)```", re.S)
    ((block, shown),) = example.findall(README)
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out == shown
    assert example.findall((ROOT / "README.zh.md").read_text("utf-8")) == [
        (block, shown)
    ]


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_readme_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text("utf-8")):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_readme_figures_are_those_measured():
    """``python -m benchmarks study real-tables`` has written the file."""
    measured = json.loads((ROOT / "benchmarks" / "real_tables.json").read_text("utf-8"))
    for name in ("README.md", "README.zh.md"):
        text = (ROOT / name).read_text("utf-8")
        (shown,) = re.findall(r"<!-- figures -->\n(.*?)\n<!-- end -->", text, re.S)
        assert shown == format_table(measured, "zh" if ".zh" in name else "en")


@pytest.fixture
def setup_file():
    pytest.importorskip("setuptools")
    found = spec_from_file_location("setup_file", ROOT / "setup.py")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_links_of_the_readme_are_absolute_in_the_metadata(setup_file):
    address = "https://example.org/owner/name"
    made = setup_file.make_metadata(address, "1.2.3", README)
    text = made["long_description"]
    prose = re.sub("(?s)```.*?```", "", text)
    links = re.findall(r'\]\(([^)#]+)\)|src="([^"]+)"', prose)
    assert links
    for link in map("".join, links):
        assert link.startswith("https://"), link
    assert f"({address}/raw/v1.2.3/doc/images/" in text
    assert set(made["project_urls"]) == {
        "Changelog",
        "Documentation",
        "Issues",
        "Source",
    }


def test_links_to_files_alone_are_changed(setup_file):
    text = """See [a](b/c.md#d), [e](https://f.org/g.png), ![h](i.svg) and [j](#k).
<img src="l.png" alt="m"> <a href='n.md'>o</a>
```python
p = q[0](r)
```
"""
    made = setup_file.make_metadata("https://s.org/t", "0.1.0.dev0", text)
    assert (
        made["long_description"]
        == """See [a](https://s.org/t/blob/HEAD/b/c.md#d), [e](https://f.org/g.png), \
![h](https://s.org/t/raw/HEAD/i.svg) and [j](#k).
<img src="https://s.org/t/raw/HEAD/l.png" alt="m"> \
<a href='https://s.org/t/blob/HEAD/n.md'>o</a>
```python
p = q[0](r)
```
"""
    )
    made = setup_file.make_metadata("", "0.1.0", text)
    assert made == {"long_description": text, "project_urls": {}}


@pytest.mark.skipif(not (ROOT / ".pre-commit-config.yaml").exists(), reason="not here")
def test_linters_are_pinned_alike():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    pins = set(re.findall(r"additional_dependencies: \[(.+)\]", hooks))
    assert pins == set(PROJECT["optional-dependencies"]["lint"])


@pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="not here")
def test_wheels_are_built_for_every_python_that_is_named():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = {
        "cp" + kind.rpartition(" ")[2].replace(".", "") + "-*"
        for kind in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", kind)
    }
    built = set(settings["tool"]["cibuildwheel"]["build"])
    assert named == {name for name in built if "t-" not in name}


@with_source
def test_every_extension_of_the_table_has_its_source():
    setup = (ROOT / "setup.py").read_text("utf-8")
    table = re.findall(r'^    "(sklearn_textbook[\w.]+)",$', setup, re.M)
    sources = {path.replace(".", "/") + ".pyx" for path in table}
    on_disk = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "sklearn_textbook").rglob("*.pyx")
    }
    assert sources == on_disk


@with_source
def test_source_distribution_has_every_kind_of_cython_file():
    manifest = (ROOT / "MANIFEST.in").read_text("utf-8")
    (kinds,) = re.findall(r"^recursive-include sklearn_textbook (.*)$", manifest, re.M)
    on_disk = {path.suffix for path in (ROOT / "sklearn_textbook").rglob("*.p[xy]?")}
    assert {f"*{suffix}" for suffix in on_disk - {".pyc", ".pyd"}} == set(kinds.split())


@with_source
def test_wheel_has_every_kind_of_data_file():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    kinds = settings["tool"]["setuptools"]["package-data"]["sklearn_textbook"]
    built = {"", ".py", ".pyc", ".pyx", ".c", ".cpp", ".so", ".pyd", ".html"}
    on_disk = {
        path.suffix
        for path in (ROOT / "sklearn_textbook").rglob("*")
        if path.is_file() and not path.with_suffix(".pyx").exists()
    }
    assert {f"**/*{suffix}" for suffix in on_disk - built} <= set(kinds)
    assert "**/*.html" in kinds  # of pages, while others are reports of Cython


def test_there_are_few_extensions():
    # Each has a price in time to build and to load; one more is Cython's own.
    setup = (ROOT / "setup.py").read_text("utf-8")
    assert len(re.findall(r'^    "sklearn_textbook[\w.]+",$', setup, re.M)) <= 35


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sys, sklearn_textbook; "
        "print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    printed = subprocess.check_output(command, cwd=ROOT, text=True)
    assert printed.strip() == "[]"


def test_unknown_submodule_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'forest'"):
        _ = sklearn_textbook.forest
    assert {"tree", "datasets", "io"} <= set(dir(sklearn_textbook))
