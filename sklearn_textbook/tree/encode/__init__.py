"""Stage 1, encode: conversion of a table to coded columns (步骤一：数据编码).

This package reads numpy arrays, data frames, sparse matrices and nested lists::

    table --read_training_table--> matrix, TableSchema --encode_table--> EncodedTable

The matrix contains numbers, codes of levels and NaN for missing values. The schema
describes the columns and reads new tables in the same way. In the encoded table every
column is sorted once, exactly; trees are grown from it.
"""

from sklearn_textbook._contract.lazy_names import make_lazy

# Loaded on first use: the columns of a model file are read without a table.
__getattr__, __dir__, __all__ = make_lazy(__name__)
