"""
Gradient boosting of files larger than memory
=============================================

A table that does not fit into the memory is described by ``io.scan`` and read in blocks
of rows. The model is that of the same rows in memory, bit for bit. The table of this
example is small, so that both can be compared.
"""

# %%
# Files
# -----
# Six Parquet files have trips of taxis that are drawn at random: numbers with gaps, and
# a column of text.
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for month in range(1, 7):
    trips = pd.DataFrame({"hour": rng.integers(0, 24, 5_000)})
    trips["zone"] = rng.choice(["airport", "centre", "harbour", "suburb"], 5_000)
    trips["km"] = rng.gamma(2.0, 3.0, 5_000) + 15 * (trips["zone"] == "airport")
    is_rush = trips["hour"].isin([7, 8, 9, 16, 17, 18])
    speed = np.where(is_rush & (trips["zone"] == "centre"), 12, 30)
    trips["minutes"] = 4 + 60 * trips["km"] / speed * rng.gamma(20.0, 1 / 20, 5_000)
    trips.loc[rng.random(5_000) < 0.05, "km"] = np.nan
    trips.to_parquet(folder / f"month-{month}.parquet")

# %%
# Fitting
# -------
# The target is the name of a column. The files are read once; what follows reads
# temporary files. ``memory_limit`` bounds what the fit keeps in memory beside the
# blocks of the source, and leaves the model as it is.
from sklearn_textbook import io
from sklearn_textbook.ensemble import GradientBoostingRegressor

table = io.scan(folder / "*.parquet", memory_limit="64MiB")
model = GradientBoostingRegressor(n_estimators=50, random_state=0)
model.fit(table, "minutes")

whole = pd.concat([pd.read_parquet(path) for path in sorted(folder.iterdir())])
in_memory = GradientBoostingRegressor(n_estimators=50, random_state=0)
in_memory.fit(whole.drop(columns="minutes"), whole["minutes"])
X = whole.drop(columns="minutes")
print("equal predictions:", bool((model.predict(X) == in_memory.predict(X)).all()))

# %%
# Predictions
# -----------
# ``io.predict_to`` writes a Parquet file block by block.
n_rows = io.predict_to(model, table, folder / "predicted.parquet")
predicted = pd.read_parquet(folder / "predicted.parquet")
print(f"{n_rows:,} rows")
predicted.head()

# %%
# Cross-validation
# ----------------
# The parts that ``io.folds`` gives read the same files, and keep their rows. The fold
# of a row depends on its number in the table and on the seed, so that both learning
# rates are compared on the same folds.
import matplotlib.pyplot as plt

source = io.scan(folder / "month-*.parquet")
rounds = [5, 10, 20, 30, 40]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for learning_rate in (0.1, 0.3):
    errors = np.zeros(len(rounds))
    for train, test in io.folds(source, 3, random_state=0):
        model = GradientBoostingRegressor(
            n_estimators=max(rounds), learning_rate=learning_rate, random_state=0
        ).fit(train, "minutes")
        rows = pd.concat(block.to_pandas() for block in test.read_blocks())
        staged = [*model.staged_predict(rows.drop(columns="minutes"))]
        errors += [np.mean(np.abs(staged[n - 1] - rows["minutes"])) / 3 for n in rounds]
    ax.plot(rounds, errors, marker="o", label=f"learning_rate={learning_rate}")
ax.set_xlabel("rounds")
ax.set_ylabel("mean absolute error in minutes, 3 folds")
ax.legend()
plt.show()
