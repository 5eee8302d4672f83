"""A table of all kinds of columns, and sources that read it in blocks."""

import numpy as np
import pandas as pd
import pyarrow as pa

from sklearn_textbook.io import Batches

TARGETS = ("value", "count", "answer", "class")


def draw_frame(n_rows, seed=0):
    """Numbers, text, dates, ordered levels; gaps, weights of 0; four targets."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n_rows).round(3) for j in range(4)})
    frame["whole"] = rng.integers(0, 1000, n_rows)
    frame["single"] = rng.exponential(size=n_rows).astype(np.float32)
    frame["text"] = rng.choice(list("zyxwv"), n_rows)
    frame["many"] = [f"level {k}" for k in rng.integers(0, 60, n_rows)]
    frame["flag"] = rng.random(n_rows) < 0.3
    frame["size"] = pd.Categorical(
        rng.choice(["small", "large"], n_rows),
        categories=["small", "middle", "large"],
        ordered=True,
    )
    seconds = pd.to_timedelta(rng.integers(0, 10**7, n_rows), unit="s")
    frame["day"] = pd.Timestamp("2020-01-01") + seconds
    for name in ("x0", "x1", "text", "many", "single", "day"):
        frame.loc[rng.random(n_rows) < 0.05, name] = None
    score = frame.x2 - frame.x3 * frame.single.fillna(1.0) + (frame.text == "z") * 1.5
    score += frame.x0.fillna(0.3) + (frame["size"] == "large")
    frame["value"] = score + rng.normal(size=n_rows)
    frame["count"] = rng.poisson(np.exp(0.2 * score.clip(-5, 5)))
    frame["answer"] = np.where(frame.value > 0, "yes", "no")
    frame["class"] = np.where(score > 1, "high", np.where(score < -1, "low", "middle"))
    frame["w"] = rng.random(n_rows) * 2
    frame.loc[rng.random(n_rows) < 0.02, "w"] = 0.0
    return frame


def draw_table(n_rows, seed=0):
    """The same as a table of pyarrow."""
    return pa.Table.from_pandas(draw_frame(n_rows, seed), preserve_index=False)


def list_features(table):
    """The names of the columns that are neither targets nor weights."""
    return [name for name in table.column_names if name not in (*TARGETS, "w")]


def cut(table, step, names=None):
    """A source that reads some columns of a table in blocks of ``step`` rows."""
    table = table.select(names or table.column_names)

    def make_blocks():
        for start in range(0, table.num_rows, step):
            yield table.slice(start, step)

    return Batches(make_blocks, table.column_names)
