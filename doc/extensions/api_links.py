"""Links of the pages of the reference: to the guide, and to other projects."""

import importlib
import inspect
import re
import zlib
from fnmatch import fnmatch
from pathlib import Path

PACKAGE = "sklearn_textbook"

#: Pages of the user guide and what they describe; the first that fits counts.
GUIDES = {
    "id3_c45": "tree.ID3* tree.C45Classifier criteria.*",
    "c45_rules": "tree.C45Rules* tree.rules.*",
    "oblique_trees": "tree.Oblique* ensemble.Oblique*",
    "optimal_trees": "tree.OptimalTree*",
    "pruning": "tree.*Pruning tree.prune.* tree.export_pruning_report *.PruningPath*",
    "trees": "tree.* inspection.TreeDisplay",
    "combination": "*.Voting* *.Averaging* *.Stacking* *.MultiResponse* *.AccuracyRej* "
    "ensemble.combination.*",
    "model_averaging": "ensemble.BayesianModelAveraging* ensemble.model_averaging.*",
    "diversity": "ensemble.diversity.* inspection.KappaErrorDisplay",
    "output_codes": "ensemble.OutputCode*",
    "negative_correlation": "ensemble.NegativeCorrelation*",
    "boosting": "*Boost* *.Additive* *.fit_additive_model *.LearningRoundsDisplay "
    "ensemble.boosting.*",
    "ensembles": "ensemble.* *.Importances* *.PartialDependence* *.partial_dependence",
    "singular_values": "decomposition.*SVD* decomposition.Singular* decomposition.svd",
    "principal_components": "decomposition.PCA *.BiplotDisplay *.ScreeDisplay",
    "discriminant_analysis": "*Discriminant*",
    "logistic_regression": "linear_model.LogisticRegression",
    "maximum_entropy": "linear_model.MaxEnt*",
    "generalized_linear": "linear_model.Generalized* linear_model.generalized.*",
    "penalized": "linear_model.ElasticNet* *.RegularizationPathDisplay",
    "linear_regression": "linear_model.* inspection.ResidualsDisplay",
    "explaining": "inspection.*",
    "source_code": "exchange.export_code exchange.to_shap *.TreeSum *.read_trees",
    "exports": "exchange.to_onnx exchange.to_pmml",
    "other_tools": "exchange.*",
    "files": "io.*",
    "command_line": "cli.*",
    "datasets": "datasets.*",
}

#: Other projects: where the pages of their public names are, and the modules linked to.
PROJECTS = {
    "sklearn": (
        "https://scikit-learn.org/stable/",
        "modules/generated/{}.html",
        (
            "base compose datasets decomposition discriminant_analysis dummy ensemble "
            "feature_selection inspection linear_model metrics model_selection "
            "naive_bayes neighbors pipeline preprocessing tree utils"
        ),
    ),
    "numpy": ("https://numpy.org/doc/stable/", "reference/generated/{}.html", ""),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        "reference/generated/{}.html",
        "linalg optimize sparse special stats",
    ),
    "pandas": ("https://pandas.pydata.org/docs/", "reference/api/{}.html", ""),
}


def find_guide(name):
    """Find the page of the guide that describes a name of the package, or None."""
    inner = name.removeprefix(f"{PACKAGE}.")
    for page, patterns in GUIDES.items():
        if any(fnmatch(inner, pattern) for pattern in patterns.split()):
            return page
    return None


def find_guides(folder):
    """Find the guide of every name that the reference in a folder lists."""
    guides, module = {}, ""
    for line in Path(folder, "index.rst").read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.removeprefix(".. currentmodule:: ")
        elif module and re.fullmatch(r"   [\w.]+", line):
            name = f"{module}.{line.strip()}"
            guides[name] = find_guide(name)
    return guides


def list_names(modules):
    """List the public classes and functions of installed modules, with their roles."""
    for module in map(importlib.import_module, modules):
        public = getattr(module, "__all__", None)
        for name, member in vars(module).items():
            is_own = getattr(member, "__module__", "") == module.__name__
            is_public = name in public if public else is_own and name[0] != "_"
            if callable(member) and is_public:
                role = "class" if inspect.isclass(member) else "function"
                yield f"{module.__name__}.{name}", f"py:{role}"


def write_inventories(app, config):
    """Write the inventories that intersphinx reads: building needs no network."""
    folder = Path(app.doctreedir, "inventories")
    folder.mkdir(parents=True, exist_ok=True)
    for project, (address, page, inner) in PROJECTS.items():
        modules = [f"{project}.{name}" for name in inner.split()] or [project]
        lines = [
            f"{name} {role} 1 {page.format(name)}#{name} -\n"
            for name, role in list_names(modules)
        ]
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
        zipped = "# The remainder of this file is compressed using zlib.\n"
        path = folder / f"{project}.inv"
        path.write_bytes(
            (head + zipped).encode() + zlib.compress("".join(lines).encode())
        )
        config.intersphinx_mapping[project] = (address, str(path))


def setup(app):
    app.connect("config-inited", write_inventories, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
