"""Reading and writing tables and models.

`read_table` reads csv, tsv, Parquet, Feather, JSON, Excel, ARFF and C4.5 files into a
frame with column kinds; `write_arff` and `write_c45` write frames. `save_model` and
`load_model` store a fitted estimator as JSON, without pickle. Tables require pyarrow
(``pip install pyarrow``); model files require only the package itself.
"""

from importlib import import_module

# Imported on first use: model files must work without pyarrow.
_HOMES = {
    "ModelFileError": "model_file",
    "SavedModel": "model_document",
    "TableFile": "table_file",
    "TableFileError": "table_file",
    "list_trusted_types": "trusted_types",
    "load_model": "model_file",
    "make_model_schema": "model_schema",
    "read_c45_costs": "c45_costs",
    "read_model": "model_file",
    "read_table": "table_reader",
    "save_model": "model_file",
    "write_arff": "arff",
    "write_c45": "c45_writer",
}

__all__ = [
    "ModelFileError",
    "SavedModel",
    "TableFile",
    "TableFileError",
    "list_trusted_types",
    "load_model",
    "make_model_schema",
    "read_c45_costs",
    "read_model",
    "read_table",
    "save_model",
    "write_arff",
    "write_c45",
]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        raise ImportError(
            f"{name} requires pyarrow: pip install pyarrow",
            name="pyarrow",
        ) from error
    globals()[name] = value  # the function, even if a module has the same name
    return value


def __dir__():
    return sorted(__all__)
