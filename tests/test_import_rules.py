"""Who may import whom, read off the source text, Cython included.

The parts of the package stand in a row and import only from parts before them, so
that the way of the data can be read from the folder names (doc/architecture.rst).
"""

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest
import sklearn.base

import sklearn_textbook

ROOT = Path(sklearn_textbook.__file__).parent
PACKAGE = ROOT.name

# The stages of a tree, upstream first; each imports only from those before it.
STAGES = ["encode", "split", "grow", "route", "prune", "rules", "explain", "exchange"]
TREE_STAGES = [f"{PACKAGE}.tree.{stage}" for stage in STAGES]
# What recipes share; none is a recipe itself. Each imports only from those before it.
RECIPE_BASES = [
    f"{PACKAGE}.tree.{base}"
    for base in (
        *("pruning_parameter", "recipe", "cart_recipe", "gain_recipe"),
        "oblique_recipe",
    )
]
# The only recipe that begins where another ends: its rules are made of that tree.
MADE_OF = {f"{PACKAGE}.tree.c45_rules": f"{PACKAGE}.tree.c45"}
# Each imports only from those before it.
FOUNDATIONS = [f"{PACKAGE}._contract", f"{PACKAGE}.criteria"]
MODELS = [
    f"{PACKAGE}.{part}"
    for part in ("ensemble", "linear_model", "decomposition", "discriminant_analysis")
]
# Made of no tree and of no other model, but they read tables as linear models do.
ALONE = [f"{PACKAGE}.decomposition", f"{PACKAGE}.discriminant_analysis"]
# Reads tables as trees do, and knows no tree.
LINEAR = f"{PACKAGE}.linear_model"
DESIGN = f"{LINEAR}.design"
READERS = {
    DESIGN: [TREE_STAGES[0]],
    LINEAR: [TREE_STAGES[0], DESIGN],
    **{part: [DESIGN] for part in ALONE},
}
TOP = [
    f"{PACKAGE}.{part}" for part in ("datasets", "io", "exchange", "inspection", "cli")
]
# Growing and asking many trees: what ensembles see of trees beside the estimators.
MEMBERS = f"{PACKAGE}.tree.members"
# All that an ensemble may know of trees beside that.
TREE_SHAPES = {"EncodedTable", "GrownTree"}

# Names that scikit-learn removed or is going to remove, beside those it has today.
FORMER_PRIVATE_NAMES = {
    "_check_feature_names",
    "_check_n_features",
    "_estimator_type",
    "_get_tags",
    "_more_tags",
    "_parameter_constraints",
    "_validate_data",
    "_validate_params",
}
# Documented for third parties to set, in one place, although it has an underscore.
LINK_NAMES = {"_doc_link_module", "_doc_link_template"}
# IPython's protocol of what a notebook displays, for any class.
DISPLAY_NAMES = {"_repr_html_", "_repr_mimebundle_"}

PYTHON_FILES = sorted([*ROOT.rglob("*.py"), *ROOT.rglob("*.pyi")])
CYTHON_FILES = sorted([*ROOT.rglob("*.pyx"), *ROOT.rglob("*.pxd")])


@lru_cache(maxsize=1)
def list_nodes(path):
    """The nodes of a Python file's syntax tree."""
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def module_name(path):
    """The dotted name of a source file."""
    parts = [PACKAGE, *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def python_imports(path):
    """(module, imported names) for each import statement of a Python file."""
    package = module_name(path).split(".")
    if path.stem != "__init__":
        package = package[:-1]
    for node in list_nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module, [alias.name for alias in node.names]


def cython_imports(path):
    """(module, imported names) for each import and cimport of a Cython file."""
    text = re.sub(r"#.*", "", path.read_text("utf-8"))
    statement = r"^[ \t]*from\s+(\S+)\s+c?import\s+(\([^)]*\)|[^\n]*)"
    for module, names in re.findall(statement, text, re.MULTILINE):
        yield module, re.findall(r"(\w+)(?:\s+as\s+\w+)?\s*(?:,|\)|$)", names)
    for modules in re.findall(r"^[ \t]*c?import\s+([^\n(]+)", text, re.MULTILINE):
        for module in modules.split(","):
            yield module.split()[0], []


def imports(path):
    """All imports of a source file, with submodules named in full."""
    read = python_imports if path in PYTHON_FILES else cython_imports
    for module, names in read(path):
        yield module, names
        for name in names:
            if is_module(f"{module}.{name}"):
                yield f"{module}.{name}", []


def is_module(name):
    """Whether a dotted name is a module or a package of ours."""
    if not name.startswith(f"{PACKAGE}."):
        return False
    path = ROOT.joinpath(*name.split(".")[1:])
    return path.is_dir() or any(
        path.with_suffix(suffix).exists() for suffix in (".py", ".pyx", ".pxd")
    )


def part_of(module):
    """The part a module stands in; a recipe of the tree package is its own part."""
    if module == f"{PACKAGE}.__main__":
        return f"{PACKAGE}.cli"
    for part in [MEMBERS, DESIGN, *TREE_STAGES, *FOUNDATIONS, *MODELS, *TOP]:
        if module == part or module.startswith(f"{part}."):
            return part
    return module


def is_recipe(part):
    """Whether a part is a module of the tree package itself, like tree.cart."""
    is_in_tree = part.rpartition(".")[0] == f"{PACKAGE}.tree"
    return is_in_tree and part not in [MEMBERS, *TREE_STAGES]


def may_import(part, other, names):
    """Whether modules of a part may import these names from another part."""
    face = f"{PACKAGE}.tree"
    if PACKAGE in (part, other) or other == part:
        return True
    if part in FOUNDATIONS:
        return other in FOUNDATIONS[: FOUNDATIONS.index(part)]
    if other in FOUNDATIONS:
        return True
    if part in TREE_STAGES:
        return other in TREE_STAGES[: TREE_STAGES.index(part)]
    if part in RECIPE_BASES:
        return other in [*TREE_STAGES, *RECIPE_BASES[: RECIPE_BASES.index(part)]]
    if part == MEMBERS:
        return other in [*TREE_STAGES, *RECIPE_BASES]
    if is_recipe(part):
        return other in [*TREE_STAGES, *RECIPE_BASES, MADE_OF.get(part)]
    if part == face:
        return other in TREE_STAGES or is_recipe(other)
    if part in READERS:
        return other in READERS[part]
    if part in MODELS:
        shapes = other in TREE_STAGES and bool(names) and set(names) <= TREE_SHAPES
        return other in (face, MEMBERS, DESIGN) or shapes or other in MODELS
    return part in TOP  # they look at everything below them


def violations(path):
    """The import statements of a file that the rules forbid, as readable lines."""
    part = part_of(module_name(path))
    for module, names in imports(path):
        if module == PACKAGE or module.startswith(f"{PACKAGE}."):
            submodules = [name for name in names if is_module(f"{module}.{name}")]
            if names and len(submodules) == len(names):
                continue  # "from package import submodule" comes again in full
            if not may_import(part, part_of(module), names):
                yield f"{module_name(path)} imports {module} ({', '.join(names)})"


def find_in_files(paths, find):
    """What is found in some files, by their names, without those that have nothing.

    They share a test, as each takes less time than pytest takes for one.
    """
    assert len(paths) > 50
    found = {str(path.relative_to(ROOT)): list(find(path)) for path in paths}
    return {name: faults for name, faults in found.items() if faults}


def test_imports_run_downstream_only():
    assert find_in_files([*PYTHON_FILES, *CYTHON_FILES], violations) == {}


def test_cython_modules_are_whole():
    """A file that is included would import what nobody sees here."""

    def includes(path):
        return re.findall(r"^\s*include\b.*", path.read_text("utf-8"), re.MULTILINE)

    assert find_in_files(CYTHON_FILES, includes) == {}
    assert list(ROOT.rglob("*.pxi")) == []


def private_parts(dotted):
    """The parts of a dotted name that have one leading underscore."""
    return [
        part
        for part in dotted.split(".")
        if part.startswith("_") and not part.startswith("__")
    ]


def private_scikit_learn_names():
    """Private names that the base classes of scikit-learn hand down."""
    bases = [
        member
        for name, member in vars(sklearn.base).items()
        if isinstance(member, type) and not name.startswith("_")
    ]
    names = {name for base in bases for name in dir(base) if private_parts(name)}
    return (names | FORMER_PRIVATE_NAMES) - LINK_NAMES - DISPLAY_NAMES


def scikit_learn_aliases(nodes):
    """Names that a file binds to scikit-learn or to a module or object of it."""
    aliases = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            aliases |= {
                alias.asname or alias.name.split(".")[0]
                for alias in node.names
                if alias.name.split(".")[0] == "sklearn"
            }
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if node.module.split(".")[0] != "sklearn":
                continue
            aliases |= {alias.asname or alias.name for alias in node.names}
    return aliases


def dotted_name(node):
    """``a.b.c`` of an attribute node, or None where it does not start at a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


INHERITED_PRIVATE_NAMES = private_scikit_learn_names()


def private_uses(path):
    """Uses of private scikit-learn names in a Python file, as readable lines."""
    nodes = list_nodes(path)
    for module, names in python_imports(path):
        if module.split(".")[0] == "sklearn":
            for name in names or [""]:
                if private_parts(f"{module}.{name}"):
                    yield f"import of {module}.{name}"
    aliases = scikit_learn_aliases(nodes)
    for node in nodes:
        if isinstance(node, ast.Attribute):
            name = dotted_name(node)
            if node.attr in INHERITED_PRIVATE_NAMES:
                yield f"line {node.lineno}: attribute {node.attr}"
            elif name and name.split(".")[0] in aliases and private_parts(name):
                yield f"line {node.lineno}: {name}"
        elif isinstance(node, ast.ClassDef):
            yield from (
                f"line {child.lineno}: defines {name}"
                for child in ast.iter_child_nodes(node)
                for name in bound_names(child)
                if name in INHERITED_PRIVATE_NAMES
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names_module = re.fullmatch(r"sklearn(\.\w+)+", node.value)
            if names_module and private_parts(node.value):
                yield f"line {node.lineno}: text {node.value}"


def bound_names(statement):
    """Names that a statement of a class body binds."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if hasattr(target, "id")]
    if isinstance(statement, ast.AnnAssign):
        return [statement.target.id]
    return []


def test_no_private_scikit_learn_names():
    assert find_in_files(PYTHON_FILES, private_uses) == {}


def test_kernels_do_not_know_scikit_learn():
    def imports_of_scikit_learn(path):
        return [m for m, _ in imports(path) if m.split(".")[0] == "sklearn"]

    assert find_in_files(CYTHON_FILES, imports_of_scikit_learn) == {}


# ------------------------------------------------- the rules themselves can fail


@pytest.mark.parametrize(
    ("part", "other", "names", "allowed"),
    [
        ("tree.grow", "tree.encode", ["EncodedTable"], True),
        ("tree.encode", "tree.grow", ["GrownTree"], False),
        ("tree.route", "tree.prune", [], False),
        ("tree.prune", "tree.route", [], True),
        ("tree.cart", "tree.grow", [], True),
        ("tree.cart", "tree.c45", [], False),
        ("tree.cart", "tree.recipe", [], True),
        ("tree.recipe", "tree.cart", [], False),
        ("tree.c45", "tree.gain_recipe", [], True),
        ("tree.gain_recipe", "tree.recipe", [], True),
        ("tree.recipe", "tree.gain_recipe", [], False),
        ("tree.c45_rules", "tree.c45", [], True),
        ("tree.c45", "tree.c45_rules", [], False),
        ("tree.rules", "tree.explain", [], False),
        ("tree.exchange", "tree.explain", [], True),
        ("tree.explain", "tree.exchange", [], False),
        ("tree.exchange", "ensemble", [], False),
        ("ensemble", "tree", ["to_sklearn"], True),
        ("ensemble", "tree.exchange", ["to_sklearn"], False),
        ("tree.cart", "_contract", [], True),
        ("_contract", "tree.encode", [], False),
        ("criteria", "_contract", [], True),
        ("_contract", "criteria", [], False),
        ("tree", "tree.cart", ["CARTClassifier"], True),
        ("ensemble", "tree", ["CARTClassifier"], True),
        ("ensemble", "tree.members", ["MemberGrower"], True),
        ("tree.members", "tree.recipe", ["BaseTree"], True),
        ("tree.members", "tree.cart", ["CARTClassifier"], False),
        ("tree.cart", "tree.members", ["MemberGrower"], False),
        ("ensemble", "tree.grow", ["GrownTree"], True),
        ("ensemble", "tree.grow", ["grow_tree"], False),
        ("ensemble", "tree.grow", [], False),
        ("ensemble", "tree.cart", ["CARTClassifier"], False),
        ("decomposition", "_contract", ["check_choice"], True),
        ("decomposition", "tree", ["CARTClassifier"], False),
        ("decomposition", "linear_model", [], False),
        ("tree.grow", "decomposition", ["svd"], False),
        ("inspection", "decomposition", ["PCA"], True),
        ("discriminant_analysis", "_contract", [], True),
        ("discriminant_analysis", "tree", ["CARTClassifier"], False),
        ("discriminant_analysis", "ensemble", [], False),
        ("tree.explain", "inspection", [], False),
        ("tree.encode", "io", [], False),
        ("tree.cart", "datasets", [], False),
        ("io", "tree.encode", ["NOMINAL"], True),
        ("cli", "io", [], True),
        ("cli", "tree", [], True),
    ],
)
def test_rule(part, other, names, allowed):
    assert may_import(f"{PACKAGE}.{part}", f"{PACKAGE}.{other}", names) is allowed


@pytest.mark.parametrize(
    "text",
    [
        "from sklearn.utils._tags import get_tags",
        "from sklearn.utils import _safe_indexing",
        "import sklearn.tree._tree",
        "import sklearn\nsklearn.tree._classes.CRITERIA_CLF",
        "from sklearn import tree as t\nt._tree",
        "class A:\n    _parameter_constraints = {}",
        "class A:\n    def f(self):\n        self._validate_params()",
        "import importlib\nimportlib.import_module('sklearn.tree._tree')",
    ],
)
def test_private_use_is_found(text, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_import_rules.ROOT", tmp_path)
    path = tmp_path / "example.py"
    path.write_text(text)
    assert len(list(private_uses(path))) >= 1


def test_public_use_is_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_import_rules.ROOT", tmp_path)
    path = tmp_path / "example.py"
    path.write_text(
        "from sklearn.base import BaseEstimator\n"
        "from sklearn.utils.validation import validate_data\n"
        "class A(BaseEstimator):\n"
        "    def _grow(self):\n"
        "        return super().__sklearn_tags__(), self._own\n"
    )
    assert list(private_uses(path)) == []


def test_cython_imports_are_read(tmp_path):
    path = tmp_path / "example.pyx"
    path.write_text(
        "from libc.math cimport log2, fabs as magnitude  # comment\n"
        "cimport cython\nimport numpy as np, os\n"
        "from sklearn_textbook.tree.grow._layout cimport (\n    Node,\n    LEAF,\n)\n"
    )
    assert dict(cython_imports(path)) == {
        "libc.math": ["log2", "fabs"],
        "cython": [],
        "numpy": [],
        "os": [],
        "sklearn_textbook.tree.grow._layout": ["Node", "LEAF"],
    }
