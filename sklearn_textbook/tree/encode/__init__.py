"""From a table to coded columns (步骤一：数据编码).

This package reads numpy arrays, data frames, sparse matrices and nested lists::

    table --read_training_table--> matrix, TableSchema --encode_table--> EncodedTable

The matrix contains numbers, codes of levels and NaN for missing values. The schema
describes the columns and reads new tables in the same way. In the encoded table every
column is sorted once, exactly; trees are grown from it.
"""

from sklearn_textbook.tree.encode.columns import KINDS, NOMINAL, NUMERIC, ORDINAL
from sklearn_textbook.tree.encode.rank import encode_table
from sklearn_textbook.tree.encode.read import read_training_table
from sklearn_textbook.tree.encode.schema import ColumnSchema, TableSchema
from sklearn_textbook.tree.encode.sharing import share_tables
from sklearn_textbook.tree.encode.table import EncodedTable

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
