"""
Plots of trees
==============

This example plots six trees with :func:`~sklearn_textbook.tree.plot_tree`: two from a
textbook, three of larger tables and a regression tree, also with the distributions of
the columns. Text never has less than 6
points. If a tree is too large for that, only its upper levels are drawn, and the nodes
at which the drawing stops show the number of nodes below them.
"""

# %%
# Figure 4.4: the watermelons
# ---------------------------
# The tree of figure 4.4 (图4.4) of 周志华《机器学习》 is grown by information gain,
# with a branch for every level. A box shows the column of the test or the predicted
# class, the number of rows, and a bar of the class proportions; its colour is that of
# the predicted class. Below "slightly_curly", no training row has the last colour, so
# this leaf has the class of its parent. ``language="zh"`` loads the table in the words
# of the book.
from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.tree import ID3Classifier, plot_tree

melons = load_watermelon(language="en", as_frame=True)
tree = ID3Classifier().fit(melons.data, melons.target)
artists = plot_tree(tree)

# %%
# Figure 4.9: missing values
# --------------------------
# In data set 2.0α, 13 values are missing (图4.9). A row with a missing value goes to
# all branches, with a fraction of its weight in each, so the weights of nodes are not
# whole numbers.
melons = load_watermelon("2.0alpha", language="en", as_frame=True)
tree = ID3Classifier().fit(melons.data, melons.target)
artists = plot_tree(tree)

# %%
# Titanic
# -------
# The table has the class, sex and age of the 2,201 people on the Titanic (R. J. MacG.
# Dawson, "The 'unusual episode' data revisited", Journal of Statistics Education 3(3),
# 1995). The width of an edge shows the number of its rows.
import numpy as np
import pandas as pd

from sklearn_textbook.tree import C45Classifier

levels = {
    "survived": ["no", "yes"],
    "age": ["child", "adult"],
    "sex": ["male", "female"],
    "class": ["1st", "2nd", "3rd", "crew"],
}
counts = [
    *([0, 0, 35, 0], [0, 0, 17, 0], [118, 154, 387, 670], [4, 13, 89, 3]),
    *([5, 11, 13, 0], [1, 13, 14, 0], [57, 14, 75, 192], [140, 80, 76, 20]),
]
cells = pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)
people = cells.loc[np.repeat(cells.index, np.ravel(counts))]
X, y = people[["class", "sex", "age"]].astype("category"), people["survived"]
artists = plot_tree(C45Classifier().fit(X, y))

# %%
# Soybean: 61 leaves, 19 classes
# ------------------------------
# The classes are diseases of soybeans, described by 35 nominal columns. The legend
# names all classes, in colours that colour-blind readers can also distinguish. A
# vertical plot of the whole tree would need text of less than 6 points, so only five
# levels are shown.
from sklearn_textbook.io import read_table

soybean = read_table("data/soybean.arff").frame
tree = C45Classifier().fit(soybean.drop(columns="class"), soybean["class"])
print(tree.get_n_leaves(), "leaves")
artists = plot_tree(tree)

# %%
# A plot from left to right has room for nearly the whole tree. The figure is 24 inches
# wide: open the image separately, or save it as SVG, in which text can be searched.
artists = plot_tree(tree, orientation="horizontal")

# %%
# A numeric tree of 300 leaves
# ----------------------------
# The figure shows as many levels as fit. A larger figure shows more levels,
# ``max_depth`` fewer. If ``ax`` is passed, the plot adapts to the size of these axes.
from sklearn.datasets import make_classification

from sklearn_textbook.tree import CARTClassifier

X, y = make_classification(
    6_000, 12, n_informative=8, n_classes=4, flip_y=0.1, random_state=0
)
X = pd.DataFrame(X, columns=[f"measurement {number}" for number in range(12)])
tree = CARTClassifier(max_leaf_nodes=300).fit(X, y)
artists = plot_tree(tree)

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
plot_tree(tree, ax=axes[0])
plot_tree(tree, ax=axes[1], orientation="horizontal")

# %%
# A regression tree
# -----------------
# The colour of a box shows its value, from light for the smallest to dark for the
# largest.
from sklearn.datasets import load_diabetes

from sklearn_textbook.tree import CARTRegressor

diabetes = load_diabetes(as_frame=True, scaled=False)
tree = CARTRegressor(max_leaf_nodes=20, min_samples_leaf=8)
tree.fit(diabetes.data, diabetes.target)
artists = plot_tree(tree)

# %%
# Distributions
# -------------
# With rows and their target, each box shows the column that it tests: in regression,
# the rows as points and the means of the branches, for levels a box from the lower to
# the upper quartile; in classification, a histogram or bars, stacked by class. A
# triangle marks the threshold, or where the branches part.
artists = plot_tree(tree, X=diabetes.data, y=diabetes.target, max_depth=2)

# %%
from sklearn.datasets import load_iris

iris = load_iris(as_frame=True)
species = iris.target_names[iris.target]
tree = CARTClassifier(max_depth=3).fit(iris.data, species)
artists = plot_tree(tree, X=iris.data, y=species)

# %%
# Graphviz
# --------
# :func:`~sklearn_textbook.tree.export_graphviz` writes the same boxes, labels and
# colours for the program ``dot``, which draws trees of any size:
# ``dot -Tsvg tree.dot -o tree.svg``.
from sklearn_textbook.tree import export_graphviz

print(export_graphviz(tree, max_depth=1)[:300], "...")
