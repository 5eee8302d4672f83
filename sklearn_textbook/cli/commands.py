"""The commands and their options.

Each command is implemented in a separate module, which is imported when the command
runs, so that help and completion are fast: they do not import NumPy and scikit-learn.
"""

from __future__ import annotations

import glob
from pathlib import Path

import click

from sklearn_textbook.cli.algorithms import (
    ALGORITHMS,
    COMBINATIONS,
    TRANSFORMERS,
    list_algorithms,
)
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.formula import read_formulas
from sklearn_textbook.cli.options import (
    Count,
    KnownName,
    MemberChoice,
    MemorySize,
    NamedMember,
    Setting,
    common_options,
    copy_options,
    name_list_option,
    reading_options,
    robust_option,
    table_options,
    target_option,
    training_options,
)

_NAMES = [*ALGORITHMS, *COMBINATIONS, *TRANSFORMERS]


def is_many_files(table: str) -> bool:
    """Return whether a table is a folder, or a pattern of names."""
    path = Path(table)
    return path.is_dir() or (glob.has_magic(table) and not path.exists())


@click.command(short_help="Fit a model to a table; print it and its scores.")
@click.argument("table")
@target_option
@click.option(
    "--algorithm",
    type=KnownName(
        [*list_algorithms(), *list_algorithms(COMBINATIONS), *TRANSFORMERS], _NAMES
    ),
    default="cart",
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(_NAMES)}. For most "
    "of them, the target decides between classification and regression: text, booleans "
    "and a few whole numbers are classes; cart-classifier, cart-regressor and so on "
    "force one.",
)
@click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    help="Parameter of the algorithm or of its members, e.g. max_depth=3 or "
    "'pruning=ErrorBasedPruning(confidence=0.1)'; repeatable.",
)
@click.option(
    "--member",
    "members",
    type=NamedMember([*ALGORITHMS]),
    multiple=True,
    metavar="NAME[=ALGORITHM]",
    help=f"Member of {', '.join(COMBINATIONS)}, e.g. c45 or small=cart; repeatable. "
    "Set its parameters with its name, e.g. --set small__max_depth=3.",
)
@click.option(
    "--cv",
    type=Count(min=0),
    default=10,
    show_default=True,
    metavar="FOLDS",
    help="Number of cross-validation folds, stratified by class; 0 for none.",
)
@click.option("--test", metavar="FILE", help="Table on which the model is scored.")
@click.option(
    "--memory",
    type=MemorySize(),
    metavar="SIZE",
    help="Read TABLE in blocks of rows, and limit the memory for sorting, bins and "
    "histograms, e.g. to 1GiB. Folders, and patterns such as 'x/*.parquet', are always "
    "read in blocks. --algorithm then is gradient-boosting by default, and --cv 0.",
)
@click.option(
    "--formula",
    metavar="FORMULA",
    help="Target and terms of a linear model, e.g. 'price ~ size * part', in the "
    "notation of R; requires formulaic. --algorithm then is linear or logistic by "
    "default, and the terms are tested.",
)
@robust_option
@training_options
@click.option("--save", metavar="FILE", help="Write the model to a JSON file.")
@click.option(
    "--report",
    "report_path",
    metavar="FILE",
    help="Write data, model, scores and figures to an HTML page that works offline.",
)
@click.option(
    "--max-depth-shown",
    type=Count(min=0),
    default=6,
    show_default=True,
    metavar="DEPTH",
    help="Depth to which the tree is printed; show prints the whole tree.",
)
@common_options
def fit(table, cv, memory, formula, robust, **options):
    """Fit a model to TABLE, and print it and its scores.

    TABLE is a csv, tsv, Parquet, Feather, JSON, Excel or ARFF file, or - for csv from
    standard input. For a C4.5 table, give any of its files; the others are found in the
    same folder. Parquet, Feather and csv files that do not fit into the memory are read
    in blocks of rows, with --memory, or as a folder or pattern.

    The output consists of the columns and their kinds, the tree, its rules with support
    and confidence, and its scores on the training rows, in cross-validation and on a
    test table. For c45-rules, it consists of the ordered rules and how each performs on
    the training rows; for an ensemble, of the sizes of its trees, the importances of
    the columns and the out-of-bag score, if there is one; for voting, averaging,
    stacking and bayesian-model-averaging, of the members, their weights and scores; for
    linear models, also averaged over subsets of the columns (bayesian-model-averaging
    without members), of the summary; for lda, of the coefficients; for pca, which needs
    no target, of the components. Rows without a value of the target are left out.

    \b
    Examples:
      sklearn-textbook fit iris.csv --target species
      sklearn-textbook fit loan.arff --target class --set max_depth=3 --cv 5
      sklearn-textbook fit house.csv --target price --id address --save house.json
      sklearn-textbook fit golf.names --algorithm c45-rules --test golf.test
      sklearn-textbook fit house.parquet --target price --algorithm random-forest
      sklearn-textbook fit loan.csv --target paid --algorithm logistic
      sklearn-textbook fit house.csv --formula 'price ~ size * part' --robust HC3
      sklearn-textbook fit loan.csv --target paid --report loan.html
      sklearn-textbook fit loan.csv --target paid --algorithm voting
          --member c45 --member random-forest --set c45__max_depth=3
      sklearn-textbook fit data.txt --no-header --target column_5 --delimiter tab
      sklearn-textbook fit 'x/*.parquet' --target price --memory 1GiB
    """  # noqa: D301 - click wants the control character itself
    if cv == 1:
        refuse_use("--cv must be 0 (none) or at least 2")
    if formula is not None:
        options["target"], (terms,) = read_formulas([formula], options["target"])
        options["settings"] = [*options["settings"], ("formula", terms)]
    if robust is not None:
        options["settings"] = [*options["settings"], ("covariance_type", robust)]
    is_linear = (formula or robust) and not _is_given("algorithm")
    if is_linear:
        options["algorithm"] = None
    if memory is not None or is_many_files(table):
        from sklearn_textbook.cli.fit_blocks import fit_blocks

        if not _is_given("algorithm"):
            options["algorithm"] = "linear" if is_linear else "gradient-boosting"
        fit_blocks(table, memory, n_folds=cv if _is_given("cv") else 0, **options)
        return
    if options["algorithm"] in TRANSFORMERS:
        from sklearn_textbook.cli.components import fit_components

        if options.pop("members"):
            refuse_use(f"--member: {options['algorithm']} has no members")
        fit_components(table, n_folds=cv, **options)
        return
    from sklearn_textbook.cli.fit import fit_table

    fit_table(table, n_folds=cv, **options)


def _is_given(name: str) -> bool:
    """Return whether an option of the command has been written."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not click.core.ParameterSource.DEFAULT


@click.command(short_help="Cross-validate several algorithms on a table.")
@click.argument("table")
@target_option
@name_list_option(
    "--algorithms",
    help="Algorithms to compare, as in fit, or NAME=ALGORITHM, e.g. small=cart. By "
    "default, all trees, ensembles of trees, linear and logistic regression that can "
    "predict the target.",
)
@click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    help="Parameter of all algorithms that have it, e.g. max_depth=3, or of one, e.g. "
    "cart__max_depth=3; repeatable.",
)
@click.option(
    "--cv",
    "n_folds",
    type=Count(min=2),
    default=10,
    show_default=True,
    metavar="FOLDS",
    help="Number of cross-validation folds, stratified by class.",
)
@training_options
@common_options
def compare(table, **options) -> None:
    """Cross-validate algorithms on the same folds of TABLE, and print their scores.

    The parameters are the defaults, unless --set changes them. TABLE and its columns
    are as in fit. For models that do not accept missing values, means are filled in.

    \b
    Examples:
      sklearn-textbook compare iris.csv --target species
      sklearn-textbook compare house.parquet --target price --id address --cv 5
      sklearn-textbook compare golf.names --algorithms c45,bagging --trees 50
      sklearn-textbook compare iris.csv --target species --scoring log_loss
      sklearn-textbook compare iris.csv --target species
          --algorithms small=cart,large=cart --set small__max_depth=2
    """  # noqa: D301 - click wants the control character itself
    from sklearn_textbook.cli.compare import compare_algorithms

    compare_algorithms(table, **options)


@click.command(short_help="Test the terms of a formula, or of nested formulas.")
@click.argument("table")
@target_option
@click.option(
    "--formula",
    "formulas",
    multiple=True,
    required=True,
    metavar="FORMULA",
    help="Target and terms of a linear model, e.g. 'price ~ size * part'; repeatable, "
    "for a comparison of models whose terms are among those of the next.",
)
@click.option(
    "--algorithm",
    type=KnownName(["linear", "logistic", "generalized-linear"]),
    metavar="NAME",
    help="linear, logistic or generalized-linear; by default linear, or logistic if "
    "the target is classes.",
)
@click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    help="Parameter of the model, e.g. family=poisson or missing=drop; repeatable.",
)
@click.option(
    "--type",
    "kind",
    type=click.IntRange(1, 3),
    default=2,
    show_default=True,
    metavar="1|2|3",
    help="1: each term is added to those before it; 2: to all but its products; 3: to "
    "all others.",
)
@click.option(
    "--test",
    type=KnownName(["auto", "F", "LR", "wald"]),
    default="auto",
    show_default=True,
    metavar="NAME",
    help="F, LR (likelihood ratio) or wald; auto: F if the dispersion is estimated, "
    "otherwise LR, and wald with --robust.",
)
@robust_option
@table_options
@click.option(
    "--jobs",
    type=Count(min=1),
    metavar="N",
    help="Number of threads; by default one per core.",
)
@common_options
def anova(table, target, formulas, robust, **options) -> None:
    """Fit linear models of formulas to TABLE, and print tests of their terms.

    TABLE and its columns are as in fit.

    \b
    Examples:
      sklearn-textbook anova house.csv --formula 'price ~ size * part + ns(year, 3)'
      sklearn-textbook anova loan.csv --formula 'paid ~ age + job' --type 1
      sklearn-textbook anova house.csv --formula 'price ~ size + part'
          --formula 'price ~ size * part'
    """  # noqa: D301 - click wants the control character itself
    target, terms = read_formulas(formulas, target)
    if robust is not None:
        options["settings"] = [*options["settings"], ("covariance_type", robust)]
    from sklearn_textbook.cli.anova import report_tests

    report_tests(table, target=target, formulas=terms, **options)


@click.command(short_help="Predict the rows of a table with a model.")
@click.argument("model")
@click.argument("table")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    help="File to write; its ending determines the format: csv, tsv, JSON, JSON lines, "
    "Parquet, Feather, Excel or ARFF. By default, csv to standard output.",
)
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option(
    "--interval",
    type=float,
    metavar="P",
    help="Add bounds that contain the value with probability P, or the set of classes "
    "that contains the class; the model must be linear regression, or fitted with "
    "--set store_distribution=true.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Add to each row the rule of the tree that applies to it or, for an ensemble, "
    "the score and the contributions of the columns.",
)
@click.option(
    "--memory",
    type=MemorySize(),
    metavar="SIZE",
    help="Read and write in blocks of rows, as fit does; the output is csv or Parquet. "
    "Folders and patterns always are read so. A few blocks are in memory, whatever "
    "SIZE is.",
)
@copy_options
@reading_options
@common_options
def predict(model, table, path, memory, **options) -> None:
    """Predict the rows of TABLE with MODEL, a file written by fit --save.

    Columns are found by name, in any order; others are ignored. The output has one row
    per row of the table, with the columns of --id (or all of them with --all-columns),
    then "prediction", then with --proba "probability_CLASS" for each class, with
    --interval "lower" and "upper", or for classes "set", and with --explain
    "explanation". If the table contains the target, scores are printed to
    standard error.

    \b
    Examples:
      sklearn-textbook predict iris.json new.csv
      sklearn-textbook predict iris.json new.csv --proba -o predicted.parquet
      sklearn-textbook predict price.json new.csv --interval 0.9
      sklearn-textbook predict iris.json new.csv --all-columns -o predicted.csv
      cat new.csv | sklearn-textbook predict iris.json - > predicted.csv
      sklearn-textbook predict price.json 'new/*.parquet' -o predicted.parquet
    """  # noqa: D301 - click wants the control character itself
    if memory is not None or is_many_files(table):
        from sklearn_textbook.cli.predict_blocks import predict_blocks

        predict_blocks(model, table, path=path, **options)
        return
    from sklearn_textbook.cli.predict import predict_table

    predict_table(model, table, path=path, **options)


@click.command(short_help="Compute the components of a table with a model.")
@click.argument("model")
@click.argument("table")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    help="File to write, in the formats of predict; by default csv to standard output.",
)
@copy_options
@reading_options
@common_options
def transform(model, table, path, **options) -> None:
    """Compute the components of the rows of TABLE with MODEL, written by fit --save.

    MODEL contains principal components (pca) or discriminants (lda). The output has one
    row per row of the table, with the columns of --id (or all of them with
    --all-columns), then pca0, pca1 and so on, or lineardiscriminantanalysis0 and so on.

    \b
    Examples:
      sklearn-textbook fit iris.csv --algorithm pca --id species --save axes.json
      sklearn-textbook transform axes.json new.csv -o scores.csv
    """  # noqa: D301 - click wants the control character itself
    from sklearn_textbook.cli.components import transform_table

    transform_table(model, table, path=path, **options)


@click.command(short_help="Measure the diversity of the members of an ensemble.")
@click.argument("model")
@click.argument("table")
@click.option(
    "--max-members-shown",
    type=Count(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Number of members listed.",
)
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    help="File for the measures of all pairs of members, in the formats of predict.",
)
@reading_options
@common_options
def diversity(model, table, path, **options) -> None:
    """Measure the diversity of the members of MODEL on the rows of TABLE.

    MODEL is a file written by fit --save with an ensemble of classification trees, and
    TABLE has its columns and its target; rows not used in the fit are more informative.
    The output consists of the measures of all members together, a summary of those of
    pairs, and for each member its error and the means over its pairs with the others.
    Kappa is that of the predictions; the other measures refer to right and wrong
    predictions.

    \b
    Examples:
      sklearn-textbook diversity forest.json test.csv
      sklearn-textbook diversity forest.json test.csv -o pairs.csv
    """  # noqa: D301 - click wants the control character itself
    from sklearn_textbook.cli.diversity import measure_diversity

    measure_diversity(model, table, path=path, **options)


@click.command(short_help="Print a model as text, rules, source code or plot.")
@click.argument("model")
@click.option(
    "--as",
    "form",
    type=KnownName(
        ["text", "rules", "sql", "python", "dot", "svg", "png", "html", "json"]
    ),
    default="text",
    show_default=True,
    help="text: the indented tree, the numbered rules of a list, or sizes and "
    "importances of an ensemble, or its members; rules: one line per leaf or rule; "
    "sql: a CASE expression; python: a function; dot: a tree for Graphviz; svg, png: a "
    "drawing by matplotlib; html: a page for a browser, with all trees of an ensemble; "
    "json: the whole content of the model file.",
)
@click.option(
    "--member",
    "--tree",
    "member",
    type=MemberChoice(),
    metavar="N",
    help="Print one tree of an ensemble, counted from 0; for voting and other "
    "ensembles of named members, one member, by number or name, or a tree of it, as in "
    "forest/0.",
)
@click.option(
    "--max-depth-shown",
    type=Count(min=0),
    metavar="DEPTH",
    help="Depth to which text, dot, svg and png show the tree; by default all of it.",
)
@click.option(
    "--all",
    "shows_all",
    is_flag=True,
    help="Print all rules. By default, --as rules prints the 20 with the most "
    "support, or the first 20 of an ordered list; --output FILE always writes all.",
)
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    help="File to write; by default, standard output.",
)
@common_options
def show(model, form, member, max_depth_shown, shows_all, path) -> None:
    """Print MODEL, a file written by fit --save.

    \b
    Examples:
      sklearn-textbook show iris.json
      sklearn-textbook show iris.json --as rules
      sklearn-textbook show iris.json --as svg -o iris.svg
      sklearn-textbook show iris.json --as sql
      sklearn-textbook show iris.json --as json | jq .tree
      sklearn-textbook show forest.json --tree 0
      sklearn-textbook show voting.json --member c45
    """  # noqa: D301 - click wants the control character itself
    from sklearn_textbook.cli.show import show_model

    show_model(model, form, max_depth_shown, member, path, shows_all)


@click.command(
    short_help="Convert a model to ONNX, PMML, C, JavaScript, Python or SQL."
)
@click.argument("model")
@click.argument("path", metavar="OUTPUT")
@click.option(
    "--table", metavar="NAME", help="Name of the table in SQL.  [default: data]"
)
@click.option(
    "--form",
    type=KnownName(["expression", "nodes"]),
    help="SQL as a query with trees as expressions, for small models, or as tables of "
    "nodes and a view.  [default: expression]",
)
@click.option(
    "--prefix",
    metavar="NAME",
    help="Prefix of function names in C, or of the tables of --form nodes.",
)
@click.option(
    "--missing-string",
    metavar="TEXT",
    help="String that represents missing values in ONNX string inputs; by default the "
    "empty string.",
)
@common_options
def convert(model, path, **options) -> None:
    """Convert MODEL, a file written by fit --save, for programs without this package.

    The ending of OUTPUT determines the format: .onnx (requires the onnx package),
    .pmml, .c, .js or .mjs, .py or .sql. Trees and ensembles of trees can be converted.
    They make the same predictions as predict, including missing values and unknown
    levels.

    \b
    Examples:
      sklearn-textbook convert forest.json forest.onnx
      sklearn-textbook convert forest.json forest.c
      sklearn-textbook convert iris.json iris.sql --table measurements
      sklearn-textbook convert forest.json forest.sql --form nodes
    """  # noqa: D301 - click wants the control character itself
    from sklearn_textbook.cli.convert import convert_model

    convert_model(model, path, **options)
