"""Reading and writing tables and models.

`read_table` reads csv, tsv, Parquet, Feather, JSON, Excel, ARFF and C4.5 files into a
frame with column kinds; `write_arff` and `write_c45` write frames. `save_model` and
`load_model` store a fitted estimator as JSON, without pickle. Tables require pyarrow
(``pip install pyarrow``); model files require only the package itself.
"""

from sklearn_textbook._contract.lazy_names import make_lazy

# Loaded on first use: model files must work without pyarrow.
__getattr__, __dir__, __all__ = make_lazy(__name__, needed="pyarrow")
