"""
Reading principal components
============================

Thirteen chemical measurements of 178 wines from three growers, in one plane: which
wines are alike, which measurements go together, and how far the picture can be trusted
(主成分分析, 李航《统计学习方法》, chapter 16).
"""

# %%
# How many components
# -------------------
# The measurements are in different units, so their correlation matrix is decomposed.
# Five components exceed 80 per cent of the variance (累计方差贡献率); the bars of the
# others are grey.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from sklearn_textbook.decomposition import PCA
from sklearn_textbook.inspection import BiplotDisplay, ScreeDisplay

wine = load_wine(as_frame=True)
pca = PCA(n_components=0.8, standardize=True).fit(wine.data)
ScreeDisplay.from_estimator(pca, threshold=0.8)
plt.show()

# %%
# Rows and variables in one plane
# -------------------------------
# Points are wines, arrows are measurements. The three growers lie apart although the
# components know nothing of them. Wines at the right have many flavanoids and phenols,
# wines at the top much colour and alcohol, and those of class 1 little of either.
labels = wine.target_names[wine.target]
BiplotDisplay.from_estimator(pca, wine.data, labels=labels)
plt.show()

# %%
# Which measurements the plane shows
# ----------------------------------
# In the correlation circle an arrow is as long as the multiple correlation of its
# measurement with the two components. Flavanoids nearly reach the circle, ash does not:
# what the plane shows of ash is little, and its direction should not be read.
BiplotDisplay.from_estimator(pca)
plt.show()

# %%
# The same in numbers: the first two factor loadings (因子负荷量), and the part of each
# measurement that two and all five components explain.
import pandas as pd

plane = PCA(n_components=2, standardize=True).fit(wine.data)
table = pd.DataFrame(plane.loadings_, wine.data.columns, ["y1", "y2"])
table["two components"] = plane.communalities_
table["five components"] = pca.communalities_
print(table.round(2).sort_values("two components", ascending=False).to_string())

# %%
# Which wines the plane shows
# ---------------------------
# The squared cosines of a wine with the two components sum to the part of its squared
# distance from the mean that the picture shows. Of dark points it shows little: they
# lie far outside of the plane, or near the mean.
shown = plane.squared_cosines(wine.data).sum(axis=1)
BiplotDisplay.from_estimator(plane, wine.data, labels=shown, kind="scores")
plt.title("part of the wine that the plane shows")
plt.show()

# %%
# As many components as neighbours need
# -------------------------------------
# A nearest-neighbour classifier in the user's own pipeline chooses, too
# (周志华《机器学习》, section 10.3).
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

pipeline = make_pipeline(PCA(standardize=True), KNeighborsClassifier())
search = GridSearchCV(pipeline, {"pca__n_components": range(1, 14)}, cv=5)
search.fit(wine.data, wine.target)
accuracies = search.cv_results_["mean_test_score"]
for n_components, accuracy in zip(range(1, 14), accuracies, strict=True):
    print(f"{n_components:2} components: accuracy {accuracy:.3f}")
