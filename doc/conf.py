"""Sphinx configuration; build with ``sphinx-build -W -b html doc doc/build/html``."""

import os
import re
import sys
import warnings
from pathlib import Path

import sklearn_textbook

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from api_links import find_guides

project = "sklearn_textbook"
copyright = "2026, The sklearn_textbook developers"
author = "The sklearn_textbook developers"
release = version = sklearn_textbook.__version__

extensions = [
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "api_links",
    "mathml",
    "page_checks",
]
html_math_renderer = "mathml"
templates_path = ["_templates"]
exclude_patterns = ["build", "examples", "auto_examples/*.ipynb"]
default_role = "literal"
highlight_language = "sh"  # of blocks after "::"; other languages are named

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    # With both, the header is a single line in a window of 1280 pixels.
    "header_links_before_dropdown": 4,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_title = "sklearn_textbook"
html_show_sourcelink = False

autosummary_generate = True
autosummary_context = {"guides": find_guides(Path(__file__).parent / "api")}
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_typehints = "none"  # the sections of parameters have them
numpydoc_show_class_members = False
numpydoc_use_plots = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [
        f"examples/{section}"
        for section in (
            *("trees", "ensembles", "explanations", "linear_models"),
            *("projections", "other_programs"),
        )
    ],
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("sklearn_textbook",),
    "reference_url": {"sklearn_textbook": None},  # examples link to the reference
    "filename_pattern": os.sep,  # run every example
    "parallel": True,  # in as many processes as sphinx-build has by -j
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 10_000,
}
warnings.filterwarnings("error", category=DeprecationWarning, module="sklearn_textbook")


def skip_foreign_members(app, what, name, member, skip, options):
    """Leave out what scikit-learn's base classes bring: its own pages have it.

    None leaves the decision to Sphinx.
    """
    function = getattr(member, "fget", None) or member
    module = getattr(function, "__module__", None) or ""
    foreign = not module.startswith("sklearn_textbook")
    request = re.fullmatch(r"set_\w+_request", name)
    return True if callable(function) and (foreign or request) else None


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign_members)
