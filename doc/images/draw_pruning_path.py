"""Draws pruning_path.png for the guide to pruning; run it in this directory."""

import matplotlib.pyplot as plt

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.inspection import PruningPathDisplay
from sklearn_textbook.tree import CARTClassifier, CostComplexityPruning

X, y = make_mixed_table(2_000, label_noise=0.1, as_frame=True, random_state=0)
tree = CARTClassifier(pruning=CostComplexityPruning(rule="1se")).fit(X, y)
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
PruningPathDisplay.from_estimator(tree, ax=ax)
figure.savefig("pruning_path.png", dpi=120)
