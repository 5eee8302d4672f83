"""
Linear equations in leaves
==========================

Where the target changes steadily with a number, a tree of means needs many leaves. With
linear equations, few leaves are enough (:doc:`/user_guide/linear_leaves`).
"""

# %%
# Two slopes
# ----------
# Prices rise with the size of a flat, faster in the centre than elsewhere.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from sklearn_textbook.tree import CARTRegressor, export_text

random = np.random.default_rng(0)
size = random.uniform(20, 150, 600)
part = random.choice(["centre", "north", "south"], 600)
price = 30 + np.where(part == "centre", 9.0, 4.0) * size + random.normal(0, 40, 600)
X = pd.DataFrame({"size": size, "part": part})
X, X_test, price, price_test = train_test_split(X, price, random_state=0)

trees = {
    model: CARTRegressor(
        leaf_model=model, pruning="cost_complexity", random_state=0
    ).fit(X, price)
    for model in ("constant", "linear")
}
for model, tree in trees.items():
    score = tree.score(X_test, price_test)
    print(f"{model}: {tree.get_n_leaves()} leaves, R² {score:.3f} on other rows")

# %%
# The numbers in parentheses are standard errors.
print(export_text(trees["linear"], max_width=80))

# %%
grid = pd.DataFrame({"size": np.linspace(20, 150, 400)})
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, (model, tree) in zip(axes, trees.items(), strict=True):
    for place, color in (("centre", "#D55E00"), ("north", "#0072B2")):
        rows = X["part"] == place
        ax.scatter(X["size"][rows], price[rows], s=6, color=color, alpha=0.4)
        prices = tree.predict(grid.assign(part=place))
        ax.plot(grid["size"], prices, color=color, label=place)
    ax.set(xlabel="size", title=f"{model}, {tree.get_n_leaves()} leaves")
axes[0].set_ylabel("price")
axes[0].legend()
plt.show()
