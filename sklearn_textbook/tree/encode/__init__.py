"""Stage 1, encode: conversion of a table to coded columns (步骤一：数据编码).

This package reads numpy arrays, data frames, sparse matrices and nested lists::

    table --read_training_table--> matrix, TableSchema --encode_table--> EncodedTable

The matrix contains numbers, codes of levels and NaN for missing values. The schema
describes the columns and reads new tables in the same way. In the encoded table every
column is sorted once, exactly; trees are grown from it.
"""

from typing import TYPE_CHECKING

from sklearn_textbook._contract.lazy_names import make_lazy

if TYPE_CHECKING:
    from sklearn_textbook.tree.encode.columns import KINDS, NOMINAL, NUMERIC, ORDINAL
    from sklearn_textbook.tree.encode.rank import encode_table
    from sklearn_textbook.tree.encode.read import read_training_table
    from sklearn_textbook.tree.encode.schema import ColumnSchema, TableSchema
    from sklearn_textbook.tree.encode.sharing import share_tables
    from sklearn_textbook.tree.encode.table import EncodedTable

# Loaded on first use: the columns of a model file are read without a table.
_HOMES = {
    "ColumnSchema": "schema",
    "EncodedTable": "table",
    "KINDS": "columns",
    "NOMINAL": "columns",
    "NUMERIC": "columns",
    "ORDINAL": "columns",
    "TableSchema": "schema",
    "encode_table": "rank",
    "read_training_table": "read",
    "share_tables": "sharing",
}

__all__ = [
    "KINDS",
    "NOMINAL",
    "NUMERIC",
    "ORDINAL",
    "ColumnSchema",
    "EncodedTable",
    "TableSchema",
    "encode_table",
    "read_training_table",
    "share_tables",
]

__getattr__, __dir__ = make_lazy(__name__, _HOMES)
