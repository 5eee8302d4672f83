"""Draws tree.png, the picture on the first page; run it in this directory."""

import matplotlib.pyplot as plt

from sklearn_textbook.datasets import load_play_tennis
from sklearn_textbook.tree import CARTClassifier, plot_tree

tennis = load_play_tennis(as_frame=True)
tree = CARTClassifier(categorical_split="multiway").fit(tennis.data, tennis.target)
plot_tree(tree, ax="new")
plt.savefig("tree.png", dpi=120, bbox_inches="tight")
