"""
A forest as a program, a query and a file
=========================================

A fitted forest is written in several formats, applied to new rows without this package,
and compared with the model (:doc:`/user_guide/deploy`).
"""

# %%
# The model
# ---------
# The table has numbers, text and missing values.
from sklearn.model_selection import train_test_split

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import RandomForestClassifier

X, y = make_mixed_table(
    2_000, label_noise=0.05, missing_fraction=0.1, as_frame=True, random_state=0
)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
forest = RandomForestClassifier(10, max_leaf_nodes=20, random_state=0).fit(X, y)
print(f"accuracy on new rows: {forest.score(X_new, y_new):.3f}")

# %%
# Python without packages
# -----------------------
# The program uses only the standard library. Rows are dictionaries with all
# columns, in which None and NaN are missing values.
from sklearn_textbook.exchange import export_code

source = export_code(forest, "python")
module = {}
exec(source, module)  # or write it to a file and import that
rows = X_new.to_dict("records")
probabilities = [module["predict_proba"](row) for row in rows]
print((forest.predict_proba(X_new) == probabilities).all())

# %%
# SQL
# ---
# The query adds the scores of the classes and the prediction to a table. Here, SQLite
# runs it.
import sqlite3

import pandas as pd

query = export_code(forest, "sql", table="customers")
with sqlite3.connect(":memory:") as database:
    X_new.astype(object).where(X_new.notna(), None).to_sql("customers", database)
    predicted = pd.read_sql(query, database)
print((predicted["prediction"] == forest.predict(X_new)).all())
print(predicted.iloc[:3, -3:])

# %%
# A model file
# ------------
# The file is JSON. It is read without executing code, and predicts the same.
import tempfile
from pathlib import Path

from sklearn_textbook.io import load_model, save_model

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "forest.json")
    save_model(forest, path, target="class")
    print((load_model(path).predict_proba(X_new) == forest.predict_proba(X_new)).all())
    n_bytes = {"JSON": path.stat().st_size}

# %%
# Size
# ----
# All formats hold the same trees. SQL and PMML write out the conditions of every node.
import matplotlib.pyplot as plt

from sklearn_textbook.exchange import to_pmml

n_bytes["PMML"] = len(to_pmml(forest).encode())
for language in ("c", "javascript", "python", "sql"):
    n_bytes[language] = len(export_code(forest, language).encode())
n_nodes = sum(tree.tree_.node_count for tree in forest.estimators_)
print(f"{n_nodes} nodes")

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
bars = ax.barh(list(n_bytes), [size / 1024 for size in n_bytes.values()])
ax.bar_label(bars, fmt="%.0f", padding=3)
ax.set_xlabel("size in KiB")
ax.margins(x=0.12)
plt.show()
