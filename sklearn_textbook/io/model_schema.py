"""The JSON Schema of model files, made from the declarations of their content.

``python -m sklearn_textbook.io.model_schema`` prints it; the user guide has a copy.
"""

from __future__ import annotations

import json

from sklearn_textbook._contract.registry import ESTIMATORS, find_class, list_names
from sklearn_textbook.io.fitted_attributes import FITTED_MODELS
from sklearn_textbook.io.model_document import FORMAT_NAME, SCHEMA_VERSION
from sklearn_textbook.io.packed_arrays import DTYPES
from sklearn_textbook.tree.encode.columns import KINDS, SOURCES

_COUNT = {"type": "integer", "minimum": 0}
_LEVELS = {"type": "array", "items": {"type": ["string", "boolean", "number"]}}
# Numbers; NaN and infinities, which JSON does not have, as text.
_NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
# A single number; NaN and infinities, which JSON does not have, as an object.
_SINGLE = {
    "anyOf": [
        {"type": "number"},
        {
            "type": "object",
            "properties": {"number": {"enum": ["nan", "inf", "-inf"]}},
            "required": ["number"],
            "additionalProperties": False,
        },
    ]
}


def make_model_schema():
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
                "written_by": {"type": "string"},
                "estimator": {"enum": list_names()},
                "parameters": _refer("parameters"),
                "target": {"type": ["string", "null"]},
                "table": {"type": "object"},
                "columns": _refer("columns"),
                "classes": _refer("classes"),
            },
            is_open=True,
        ),
        "allOf": [_describe_class(name) for name in list_names()],
        "$defs": _list_definitions(),
    }


def _object(properties, optional=(), *, is_open=False):
    """Describe an object; all entries are required except the optional ones."""
    described = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }
    return described if is_open else {**described, "additionalProperties": False}


def _refer(name):
    return {"$ref": f"#/$defs/{name}"}


def _describe_class(name):
    """Describe the additional entries of a file with this class."""
    saved = ESTIMATORS[name].saved
    if saved == "values":
        return _require_for(name, _describe_model(name))
    if saved in ("members", "either"):
        member = {
            "name": {"type": "string"},
            "model": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        }
        entries = {
            "kept": _describe_kept(find_class(name)._kept),
            "members": {"type": "array", "items": _object(member), "minItems": 1},
        }
        forms = [_object(entries, is_open=True)]
        if saved == "either":
            forms.append(_describe_model(name))
        return _require_for(name, forms[0] if len(forms) == 1 else {"anyOf": forms})
    if saved == "trees":
        entries = {
            "n_missing": {"type": "array", "items": _COUNT},
            "member": _refer("member"),
            "kept": _describe_kept(find_class(name)._kept),
            "trees": {"type": "array", "items": _refer("member_tree"), "minItems": 1},
        }
    else:
        entries = {
            "n_missing": {"type": "array", "items": _COUNT},
            "max_features": {"type": "integer", "minimum": 1},
            "tree": _refer("tree"),
            "neighbours": _refer("array"),
        }
    if saved == "rules":
        entries |= {"tree_parameters": _refer("parameters"), "rules": _refer("rules")}
    return _require_for(name, _object(entries, ["neighbours"], is_open=True))


def _require_for(name, entries):
    return {"if": {"properties": {"estimator": {"const": name}}}, "then": entries}


def _describe_model(name):
    """Describe the entries of a model other than a tree."""
    entries = {"kept": _describe_kept(FITTED_MODELS[name].kept)}
    # The encoding of nominal columns, for linear models that read a table.
    terms = {"terms": {"type": "array", "items": _refer("term")}}
    return _object({**entries, **terms}, optional=["terms"], is_open=True)


def _describe_kept(declared):
    """Describe the declared attributes of a class."""
    optional = [kept.name for kept in declared if kept.is_optional]
    return _object({kept.name: _describe_one(kept) for kept in declared}, optional)


def _describe_one(kept):
    if isinstance(kept.kind, tuple):
        forms = []
        for record in kept.kind:
            described = _describe_kept(record.kept)
            described["properties"]["record"] = {"const": record.of.__name__}
            described["required"] = ["record", *described["required"]]
            forms.append(described)
    else:
        forms = [
            _describe_single(kept) if shape == () else _refer("array")
            for shape in kept.shapes
        ]
    forms += [{"type": "null"}] if kept.is_optional else []
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _describe_single(kept):
    limits = {} if kept.least is None else {"minimum": kept.least}
    if kept.kind in ("number", "float") and not kept.is_finite:
        return _SINGLE
    return {
        "truth": {"type": "boolean"},
        "text": {"type": "string"},
        "precision": {"enum": ["float32", "float64"]},
        "part": _refer("part"),
        "integer": {"type": "integer", **limits},
        "number": {"type": "number", **limits},
        "float": {"type": "number", **limits},
    }[kept.kind]


def _list_definitions():
    column = {
        "name": {"type": "string"},
        "kind": {"enum": list(KINDS)},
        "levels": {"anyOf": [_LEVELS, {"type": "null"}]},
        "source": {"enum": list(SOURCES)},
        "time_zone": {"type": "string"},
    }
    labels = {
        "dtype": {"enum": ["bool", "int64", "float64", "str", "object"]},
        "values": {**_LEVELS, "minItems": 1},
    }
    return {
        "columns": _object(
            {
                "has_names": {"type": "boolean"},
                "columns": {
                    "type": "array",
                    "items": _object(column, ("time_zone",)),
                    "minItems": 1,
                },
            }
        ),
        "classes": {
            "anyOf": [
                {"type": "array", "items": _object(labels), "minItems": 1},
                {"type": "null"},
            ]
        },
        "parameters": {"type": "object", "additionalProperties": _refer("value")},
        "part": _object(
            {"part": {"type": "string"}, "parameters": _refer("parameters")}
        ),
        "value": {
            "anyOf": [
                {"type": ["null", "boolean", "string"]},
                _SINGLE,
                {"type": "array", "items": _refer("value")},
                _object({"mapping": {"type": "array", "items": _refer("value")}}),
                _object({"set": {"type": "array", "items": _refer("value")}}),
                _refer("part"),
            ]
        },
        "array": _describe_array(),
        "term": {
            "anyOf": [
                {"type": "null"},
                _object(
                    {
                        "codes": {"type": "array", "items": _COUNT},
                        "reference": {"anyOf": [_COUNT, {"type": "null"}]},
                        "means": {"type": "array", "items": {"type": "number"}},
                        "has_indicator": {"type": "boolean"},
                    },
                    optional=["codes", "reference", "has_indicator"],
                ),
            ]
        },
        **_list_tree_definitions(),
    }


def _describe_array():
    """Describe short lists of numbers, and the bytes of long ones."""
    packed = {
        "dtype": {"enum": list(DTYPES)},
        "shape": {"type": "array", "items": _COUNT, "minItems": 1, "maxItems": 3},
        "base64": {"type": "string", "contentEncoding": "base64"},
        "order": {"const": "F"},
    }
    numbers = {"type": "array", "items": _NUMBER}
    return {
        "anyOf": [
            numbers,
            {"type": "array", "items": numbers},
            _object(packed, ["order"]),
        ]
    }


def _list_tree_definitions():
    """Describe trees and rules, every number of which is checked by reading."""
    a_format = {"format": {"type": "string"}, "schema_version": _COUNT}
    way = {"type": "array", "minItems": 1, "maxItems": 3}
    stored = {"type": "object", "additionalProperties": {"type": "array"}}
    records = {"type": "object", "additionalProperties": _refer("array")}
    return {
        "tree": _object(
            {
                **a_format,
                "is_classifier": {"type": "boolean"},
                "handle_unknown": {"type": "string"},
                "n_features": {"type": "integer", "minimum": 1},
                "n_levels": {"type": "array", "items": _COUNT},
                "n_classes": {"type": "array", "items": _COUNT},
                "nodes": stored,
                "statistics": {"type": "array"},
                "level_branch": {"type": "array", "items": {"type": "integer"}},
                "surrogates": stored,
                "terms": stored,
            },
            ["terms"],
        ),
        "rules": _object(a_format, is_open=True),
        "member": _object(
            {
                "class": {"enum": list_names("tree")},
                "parameters": _refer("parameters"),
                "n_outputs": {"type": "integer", "minimum": 1},
                "max_features": {"type": ["integer", "null"]},
                "handle_unknown": {"type": "string"},
            }
        ),
        "member_tree": _object(
            {
                "nodes": {
                    "type": "object",
                    "properties": {"n_children": _refer("array")},
                    "additionalProperties": way,
                    "required": ["n_children"],
                },
                "level_branch": _refer("array"),
                "surrogates": records,
                "terms": records,
                "columns": _refer("array"),
                "parameters": _refer("parameters"),
                "max_features": {"type": ["integer", "null"]},
                "handle_unknown": {"type": "string"},
                "n_missing": {"type": "array", "items": _COUNT},
            },
            [
                *("level_branch", "surrogates", "terms", "columns", "parameters"),
                *("max_features", "handle_unknown", "n_missing"),
            ],
        ),
    }


if __name__ == "__main__":
    print(json.dumps(make_model_schema(), indent=1))
