"""The JSON Schema of model files, made from the declarations of their content.

``python -m sklearn_textbook.io.model_schema`` prints it; the user guide has a copy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sklearn_textbook._contract.registry import ESTIMATORS, find_class, list_estimators
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook.io.saved_arrays import DTYPES
from sklearn_textbook.io.saved_attributes import SAVED_ATTRIBUTES
from sklearn_textbook.io.saved_model import FORMAT_NAME, SCHEMA_VERSION
from sklearn_textbook.io.saved_values import PRECISIONS
from sklearn_textbook.linear_model.design.terms import BASES
from sklearn_textbook.tree.encode.columns import KINDS, SOURCES

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_POSITIVE = {"type": "integer", "minimum": 1}
_NULL = {"type": "null"}


def _object(
    properties: dict, optional: Sequence[str] = (), *, is_open: bool = False
) -> dict:
    """Describe an object; all entries are required except the optional ones."""
    described = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }
    return described if is_open else {**described, "additionalProperties": False}


def _map(values: dict) -> dict:
    """Describe an object of any names."""
    return {"type": "object", "additionalProperties": values}


def _list(items: dict, **limits: int) -> dict:
    """Describe a list; `minItems` and `maxItems` limit its length."""
    return {"type": "array", "items": items, **limits}


def _any(*forms: dict) -> dict:
    """Describe what has one of some forms."""
    return forms[0] if len(forms) == 1 else {"anyOf": list(forms)}


def _refer(name: str) -> dict:
    return {"$ref": f"#/$defs/{name}"}


_LEVELS = _list({"type": ["string", "boolean", "number"]})
# Numbers; NaN and infinities, which JSON does not have, as text.
_NUMBER = _any({"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]})
# A single number; NaN and infinities, which JSON does not have, as an object.
_SINGLE = _any(
    {"type": "number"}, _object({"number": {"enum": ["nan", "inf", "-inf"]}})
)
_COUNTS = _list(_COUNT)


def make_model_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of model files.

    Every file written by `save_model` conforms to it. Reading also checks lengths,
    indices and the consistency of the parts.

    Returns
    -------
    schema : dict
        The schema, as JSON values.

    Examples
    --------
    >>> from sklearn_textbook.io import make_model_schema
    >>> make_model_schema()["properties"]["format"]
    {'const': 'sklearn-textbook model'}
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FORMAT_NAME,
        **_object(
            {
                "format": {"const": FORMAT_NAME},
                "schema_version": {"const": SCHEMA_VERSION},
                "written_by": _TEXT,
                "estimator": {"enum": list_estimators()},
                "parameters": _refer("parameters"),
                "target": {"type": ["string", "null"]},
                "table": {"type": "object"},
                "columns": _refer("columns"),
                "classes": _refer("classes"),
            },
            is_open=True,
        ),
        "allOf": [_describe_class(name) for name in list_estimators()],
        "$defs": _list_definitions(),
    }


def _describe_class(name: str) -> dict:
    """Describe the additional entries of a file with this class."""
    described = _any(*_list_forms(name, ESTIMATORS[name].saved))
    return {"if": {"properties": {"estimator": {"const": name}}}, "then": described}


def _list_forms(name: str, saved: str) -> list[dict]:
    """Describe what the entries of a class may be that is saved in some way."""
    if saved == "either":
        return [*_list_forms(name, "members"), *_list_forms(name, "values")]
    if saved == "values":
        entries = {
            "kept": _describe_declared(SAVED_ATTRIBUTES[name].declared),
            # The encoding of nominal columns, for linear models that read a table.
            "terms": _list(_refer("term")),
            # Those of a formula, in place of the columns.
            "model_terms": _list(_refer("model_term")),
        }
    elif saved == "members":
        member = {"name": _TEXT, "model": _any({"$ref": "#"}, _NULL)}
        entries = {
            "kept": _describe_declared(find_class(name)._saved_fields),
            "members": _list(_object(member), minItems=1),
        }
    elif saved == "trees":
        entries = {
            "n_missing": _COUNTS,
            "member": _refer("member"),
            "kept": _describe_declared(find_class(name)._saved_fields),
            "trees": _list(_refer("member_tree"), minItems=1),
        }
    else:
        entries = {
            "n_missing": _COUNTS,
            "max_features": _POSITIVE,
            "tree": _refer("tree"),
            "neighbours": _refer("array"),
            # Of optimal trees: the lower bound and the objective.
            "bounds": _list({"type": "number"}, minItems=2, maxItems=2),
        }
    if saved == "rules":
        entries |= {"tree_parameters": _refer("parameters"), "rules": _refer("rules")}
    optional = ["neighbours", "bounds", "terms", "model_terms"]
    return [_object(entries, optional, is_open=True)]


def _describe_declared(declared: Iterable[SavedField]) -> dict:
    """Describe the declared attributes of a class."""
    optional = [each.name for each in declared if each.is_optional]
    return _object({each.name: _describe_one(each) for each in declared}, optional)


def _describe_one(declared: SavedField) -> dict:
    if isinstance(declared.kind, tuple):
        forms = []
        for record in declared.kind:
            described = _describe_declared(record.kept)
            described["properties"]["record"] = {"const": record.of.__name__}
            described["required"] = ["record", *described["required"]]
            forms.append(described)
    else:
        forms = [
            _describe_single(declared) if shape == () else _refer("array")
            for shape in declared.shapes
        ]
    return _any(*forms, *([_NULL] if declared.is_optional else []))


def _describe_single(declared: SavedField):
    limits = {} if declared.least is None else {"minimum": declared.least}
    if declared.kind in ("number", "float") and not declared.is_finite:
        return _SINGLE
    return {
        "truth": {"type": "boolean"},
        "text": _TEXT,
        "precision": {"enum": list(PRECISIONS)},
        "part": _refer("part"),
        "integer": {"type": "integer", **limits},
        "number": {"type": "number", **limits},
        "float": {"type": "number", **limits},
    }[declared.kind]


def _list_definitions() -> dict:
    column = {
        "name": _TEXT,
        "kind": {"enum": list(KINDS)},
        "levels": _any(_LEVELS, _NULL),
        "source": {"enum": list(SOURCES)},
        "time_zone": _TEXT,
    }
    labels = {
        "dtype": {"enum": ["bool", "int64", "float64", "str", "object"]},
        "values": {**_LEVELS, "minItems": 1},
    }
    term = {
        "codes": _COUNTS,
        "reference": _any(_COUNT, _NULL),
        "means": _list({"type": "number"}),
        "has_indicator": {"type": "boolean"},
    }
    factor = {
        "text": _TEXT,
        "column": _TEXT,
        "is_full": {"type": "boolean"},
        "expression": _TEXT,
        "basis": {"type": "object", "properties": {"kind": {"enum": list(BASES)}}},
    }
    model_term = {
        "indicator": _TEXT,
        "factors": _list(_object(factor, [*factor][1:])),
    }
    values = _list(_refer("value"))
    # Short lists of numbers, and the bytes of long ones.
    array = {
        "dtype": {"enum": list(DTYPES)},
        "shape": _list(_COUNT, minItems=1, maxItems=3),
        "base64": {"type": "string", "contentEncoding": "base64"},
        "order": {"const": "F"},
    }
    return {
        "columns": _object(
            {
                "has_names": {"type": "boolean"},
                "columns": _list(_object(column, ["time_zone"]), minItems=1),
            }
        ),
        "classes": _any(_list(_object(labels), minItems=1), _NULL),
        "parameters": _map(_refer("value")),
        "part": _object({"part": _TEXT, "parameters": _refer("parameters")}),
        "value": _any(
            {"type": ["null", "boolean", "string"]},
            _SINGLE,
            values,
            _object({"mapping": values}),
            _object({"set": values}),
            _refer("part"),
        ),
        "array": _any(_list(_NUMBER), _list(_list(_NUMBER)), _object(array, ["order"])),
        "model_term": _object(model_term),
        "term": _any(_NULL, _object(term, ["codes", "reference", "has_indicator"])),
        **_list_tree_definitions(),
    }


def _list_tree_definitions() -> dict:
    """Describe trees and rules, every number of which is checked by reading."""
    a_format = {"format": _TEXT, "schema_version": _COUNT}
    stored, records = _map({"type": "array"}), _map(_refer("array"))
    tree = {
        **a_format,
        "is_classifier": {"type": "boolean"},
        "handle_unknown": _TEXT,
        "n_features": _POSITIVE,
        "n_levels": _COUNTS,
        "n_classes": _COUNTS,
        "nodes": stored,
        "statistics": {"type": "array"},
        "level_branch": _list({"type": "integer"}),
        "surrogates": stored,
        "terms": stored,
        "slopes": stored,
        "bounds": {"type": "array"},
    }
    member = {
        "class": {"enum": list_estimators("tree")},
        "parameters": _refer("parameters"),
        "n_outputs": _POSITIVE,
        "max_features": {"type": ["integer", "null"]},
        "handle_unknown": _TEXT,
    }
    nodes = {
        "type": "object",
        "properties": {"n_children": _refer("array")},
        "additionalProperties": {"type": "array", "minItems": 1, "maxItems": 3},
        "required": ["n_children"],
    }
    member_tree = {
        "nodes": nodes,
        "level_branch": _refer("array"),
        "surrogates": records,
        "terms": records,
        "slopes": records,
        "bounds": _refer("array"),
        "columns": _refer("array"),
        "parameters": _refer("parameters"),
        "max_features": {"type": ["integer", "null"]},
        "handle_unknown": _TEXT,
        "n_missing": _COUNTS,
    }
    return {
        "tree": _object(tree, ["terms", "slopes", "bounds"]),
        "rules": _object(a_format, is_open=True),
        "member": _object(member),
        "member_tree": _object(member_tree, [*member_tree][1:]),
    }


if __name__ == "__main__":
    print(json.dumps(make_model_schema(), indent=1))
