"""
The projection of linear discriminant analysis
==============================================

Linear discriminant analysis (线性判别分析) projects rows onto a line on which the
classes are well separated (周志华《机器学习》, section 3.4 and figure 3.3, LDA
的二维示意图).
"""

# %%
# Two classes in the plane
# ------------------------
# Exercise 3.5 uses the watermelon data set 3.0α. Crosses mark the class means and, on
# the line, their projections; the decision boundary is perpendicular to the line.
import matplotlib.pyplot as plt

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.inspection import DiscriminantDisplay

X, y = load_watermelon(
    version="3.0alpha", language="en", return_X_y=True, as_frame=True
)
model = LinearDiscriminantAnalysis().fit(X, y)
print("w =", model.direction_.round(3))
DiscriminantDisplay.from_estimator(model, X, y)
plt.show()

# %%
# Discriminant direction and difference of the means
# --------------------------------------------------
# Projected onto the line through the two class means, the rows of a class spread more
# than necessary: the ratio of the between-class to the within-class scatter
# (广义瑞利商) is smaller than for the discriminant direction, which maximises it. In
# this example, the columns are strongly correlated within the classes.
import numpy as np

random = np.random.default_rng(0)
cloud = np.array([[1.0, 0.85], [0.85, 1.0]])
rows = random.multivariate_normal([0, 0], cloud, 80)
rows[40:] += [1.2, 0.2]
labels = np.repeat(["a", "b"], 40)
model = LinearDiscriminantAnalysis().fit(rows, labels)


def quotient(w):
    """Ratio of the between-class to the within-class scatter along a direction."""
    return (w @ model.between_scatter_ @ w) / (w @ model.within_scatter_ @ w)


offset = model.means_[1] - model.means_[0]
print(f"line through the means  {quotient(offset):.2f}")
print(f"discriminant direction  {quotient(model.direction_):.2f}")
print(f"largest eigenvalue      {model.eigenvalues_[0]:.2f}")

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
DiscriminantDisplay.from_estimator(model, rows, labels, ax=axes[0])
for name, color in (("a", "#D55E00"), ("b", "#0072B2")):
    along = rows[labels == name] @ offset / np.linalg.norm(offset)
    axes[1].hist(along, bins=15, alpha=0.6, color=color, label=name)
axes[1].set(xlabel="projection onto the line through the means", ylabel="rows")
axes[1].legend()
plt.show()

# %%
# More classes
# ------------
# With three classes there are two discriminant directions. The plot shows 150 irises
# with four measurements in the plane of these directions; the first one separates the
# classes much better than the second.
from sklearn.datasets import load_iris

iris = load_iris(as_frame=True)
species = iris.target_names[iris.target]
model = LinearDiscriminantAnalysis().fit(iris.data, species)
print("eigenvalues", model.eigenvalues_.round(2))
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
DiscriminantDisplay.from_estimator(model, iris.data, species, ax=ax)
plt.show()

# %%
# Two classes with many columns
# -----------------------------
# If there are many columns, the rows are plotted on the line onto which they are
# projected, one class above the other.
from sklearn.datasets import load_breast_cancer

cancer = load_breast_cancer(as_frame=True)
diagnosis = cancer.target_names[cancer.target]
model = LinearDiscriminantAnalysis().fit(cancer.data, diagnosis)
DiscriminantDisplay.from_estimator(model, cancer.data, diagnosis)
plt.show()
