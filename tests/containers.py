"""What scikit-learn reads of containers of tables."""

import polars as pl
from sklearn.preprocessing import StandardScaler

#: Whether the names of the columns of polars: before 1.9, not those of polars 2.
READS_POLARS = hasattr(
    StandardScaler().fit(pl.DataFrame({"a": [1.0, 2.0]})), "feature_names_in_"
)
