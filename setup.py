"""Builds the compiled modules and the metadata that pyproject.toml leaves open.

Environment switches, all empty by default (doc/development.rst tells how to use them):

SKLEARN_TEXTBOOK_EXTENSIONS=_rank,_route  build only these rows of the table
SKLEARN_TEXTBOOK_DEBUG=1                  bounds checks and C assertions, -O1 -g
SKLEARN_TEXTBOOK_SANITIZE=address         compile with AddressSanitizer
SKLEARN_TEXTBOOK_ANNOTATE=1               write Cython's annotated HTML under build/
SKLEARN_TEXTBOOK_REPOSITORY=https://...   address of the repository, for the metadata
"""

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import SetupError

# The module sklearn_textbook.tree.encode._rank is compiled from
# sklearn_textbook/tree/encode/_rank.pyx.
EXTENSIONS = [
    "sklearn_textbook._contract._file_memory",
    "sklearn_textbook._contract._threads",
    "sklearn_textbook.decomposition._jacobi",
    "sklearn_textbook.ensemble._count_draws",
    "sklearn_textbook.ensemble._leaf_rows",
    "sklearn_textbook.ensemble.boosting._losses",
    "sklearn_textbook.ensemble.boosting._stumps",
    "sklearn_textbook.linear_model.maximum_entropy._expectation",
    "sklearn_textbook.linear_model.solve._row_sums",
    "sklearn_textbook.tree.encode._rank",
    "sklearn_textbook.tree.split._column",
    "sklearn_textbook.tree.split._criterion",
    "sklearn_textbook.tree.split._gain",
    "sklearn_textbook.tree.split._gradients",
    "sklearn_textbook.tree.split._histogram",
    "sklearn_textbook.tree.split._oblique",
    "sklearn_textbook.tree.split._random_threshold",
    "sklearn_textbook.tree.split._scan",
    "sklearn_textbook.tree.grow._assemble",
    "sklearn_textbook.tree.grow._buffers",
    "sklearn_textbook.tree.grow._children",
    "sklearn_textbook.tree.grow._gradient_list",
    "sklearn_textbook.tree.grow._grower",
    "sklearn_textbook.tree.grow._list_search",
    "sklearn_textbook.tree.grow._optimal_search",
    "sklearn_textbook.tree.grow._sample_list",
    "sklearn_textbook.tree.grow._search",
    "sklearn_textbook.tree.grow._settings",
    "sklearn_textbook.tree.grow._small_node",
    "sklearn_textbook.tree.grow._tree_grower",
    "sklearn_textbook.tree.grow._workers",
    "sklearn_textbook.tree.members._level_search",
    "sklearn_textbook.tree.route._leaf_equations",
    "sklearn_textbook.tree.route._route",
    "sklearn_textbook.tree.prune._error_based",
    "sklearn_textbook.tree.prune._subtree",
    "sklearn_textbook.tree.rules._rules",
]

# Those that call numpy's functions in C; others see arrays as buffers.
NUMPY_EXTENSIONS = {"sklearn_textbook._contract._file_memory"}

# What Cython adds to every module that takes arrays, compiled once. Cython writes the
# source; it is part of every build.
SHARED = "sklearn_textbook._cyutility"

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "nonecheck": False,
    "cdivision": True,
    # Modules keep no state: their variables are constants once they are imported. The
    # list of files in _file_memory has a lock.
    "freethreading_compatible": True,
}
DEBUG_DIRECTIVES = {"boundscheck": True, "wraparound": True, "initializedcheck": True}


def is_on(name):
    """Whether an environment switch is set to something but 0."""
    return os.environ.get(f"SKLEARN_TEXTBOOK_{name}", "0") not in ("", "0")


DEBUG = is_on("DEBUG")
SANITIZE = os.environ.get("SKLEARN_TEXTBOOK_SANITIZE", "")


def make_metadata(repository, version, readme):
    """The project's addresses, and its README with absolute links, as indexes need it.

    The files of a release are those of its tag. Without an address, links stay.
    """
    if not repository:
        return {"long_description": readme, "project_urls": {}}
    release = "HEAD" if "dev" in version else f"v{version}"

    def complete(link):
        before, target = link.groups()
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        is_image = target.endswith((".png", ".svg", ".jpg", ".gif", ".webp"))
        kind = "raw" if is_image else "blob"
        return f"{before}{repository}/{kind}/{release}/{target}"

    # Every second part is code.
    parts = re.split(r"(^```.*?^```$)", readme, flags=re.M | re.S)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(
            r"""(\]\(|(?:src|srcset|href)=["'])([^\s"')]+)""", complete, parts[i]
        )
    return {
        "long_description": "".join(parts),
        "project_urls": {
            "Source": repository,
            "Documentation": f"{repository}/tree/{release}/doc",
            "Changelog": f"{repository}/blob/{release}/CHANGELOG.md",
            "Issues": f"{repository}/issues",
        },
    }


def source_file(module):
    """The Cython file of a module, relative to this directory."""
    return module.replace(".", "/") + ".pyx"


def select_modules():
    """The rows of the table to build, all unless the environment names some."""
    wanted = os.environ.get("SKLEARN_TEXTBOOK_EXTENSIONS", "")
    if not wanted:
        return EXTENSIONS
    by_stem = {module.rpartition(".")[2]: module for module in EXTENSIONS}
    stems = [stem.strip() for stem in wanted.split(",")]
    unknown = sorted(set(stems) - set(by_stem))
    if unknown:
        raise SetupError(
            f"SKLEARN_TEXTBOOK_EXTENSIONS names {unknown}, which setup.py does not "
            f"list; it lists {sorted(by_stem)}."
        )
    return [by_stem[stem] for stem in stems]


def common_flags(compiler_type):
    """(compile flags, link flags) of every extension."""
    if compiler_type == "msvc":
        return (["/Od", "/Zi"], ["/DEBUG"]) if DEBUG else (["/O2"], [])
    # No fused multiply-add: the same table gives the same tree on every processor.
    compile_flags = ["-O1", "-g"] if DEBUG or SANITIZE else ["-O3"]
    compile_flags.append("-ffp-contract=off")
    # No code reads the flags of floating-point exceptions or errno, so that choices
    # between two numbers and square roots may be vectorised.
    compile_flags += ["-fno-trapping-math", "-fno-math-errno"]
    if not (DEBUG or SANITIZE or "-g" in os.environ.get("CFLAGS", "").split()):
        compile_flags.append("-g0")  # Python's own flags may have -g
    if SANITIZE:
        sanitizer = f"-fsanitize={SANITIZE}"
        return [*compile_flags, sanitizer, "-fno-omit-frame-pointer"], [sanitizer]
    return compile_flags, []


def write_if_changed(path, text):
    """Write a file only if it would differ, so that its time stamp tells changes."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class BuildExtensions(build_ext):
    """Translates the Cython files and compiles them with one set of flags."""

    def finalize_options(self):
        super().finalize_options()
        if not self.parallel:
            self.parallel = os.cpu_count()

    def build_extensions(self):
        sources = [
            source
            for extension in self.extensions
            if extension.name != SHARED
            for source in extension.sources
        ]
        missing = [source for source in sources if not Path(source).exists()]
        if missing:
            raise SetupError(
                f"setup.py lists {', '.join(missing)}, which this source tree lacks: "
                "it is incomplete. Fetch it again."
            )
        self.translate()
        self.set_flags()
        super().build_extensions()

    def set_flags(self):
        """Give every extension its flags; a change of flags compiles it again."""
        compile_flags, link_flags = common_flags(self.compiler.compiler_type)
        mode = Path("build", "mode.txt")
        write_if_changed(mode, f"{compile_flags} {link_flags} {DEBUG}\n")
        for extension in self.extensions:
            if extension.name in NUMPY_EXTENSIONS:
                import numpy

                extension.include_dirs.append(numpy.get_include())
            extension.extra_compile_args += compile_flags
            extension.extra_link_args += link_flags
            if DEBUG:
                extension.undef_macros.append("NDEBUG")
            else:
                extension.define_macros.append(("CYTHON_WITHOUT_ASSERTIONS", "1"))
            extension.depends.append(str(mode))

    def translate(self):
        """Turn Cython into C, in a directory of its own per version and mode."""
        from Cython import __version__ as cython_version
        from Cython.Build import cythonize

        mode = "debug" if DEBUG else "release"
        translated = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES | (DEBUG_DIRECTIVES if DEBUG else {}),
            build_dir=f"build/cython/{cython_version}-{mode}",
            annotate=is_on("ANNOTATE"),
            force=bool(self.force) or is_on("ANNOTATE"),
            shared_utility_qualified_name=SHARED,
            nthreads=0 if sys.platform == "win32" else self.parallel,
        )
        by_name = {extension.name: extension for extension in translated}
        for extension in self.extensions:
            extension.sources = by_name[extension.name].sources
            extension.depends = by_name[extension.name].depends
        # The longest first, so that the last of them is not waited for.
        self.extensions.sort(key=lambda ext: -Path(ext.sources[0]).stat().st_size)


if __name__ == "__main__":  # the processes that translate may read this file again
    modules = [Extension(module, [source_file(module)]) for module in select_modules()]
    shared = Extension(SHARED, [SHARED.replace(".", "/") + ".c"])
    init = Path("sklearn_textbook/__init__.py").read_text("utf-8")
    metadata = make_metadata(
        os.environ.get("SKLEARN_TEXTBOOK_REPOSITORY", "").rstrip("/"),
        re.search(r'^__version__ = "(.+)"$', init, re.M)[1],
        Path("README.md").read_text("utf-8"),
    )
    setup(
        **metadata,
        long_description_content_type="text/markdown",
        ext_modules=[shared, *modules],
        cmdclass={"build_ext": BuildExtensions},
    )
