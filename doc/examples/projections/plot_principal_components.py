"""
Interpreting principal components
=================================

The first two principal components show 178 wines from three growers, with thirteen
chemical measurements, in one plane: which wines are similar, which measurements are
correlated, and how much of the variance the plane explains (主成分分析,
李航《统计学习方法》, chapter 16).
"""

# %%
# How many components
# -------------------
# The measurements have different units, so the correlation matrix is decomposed. Five
# components explain more than 80 per cent of the variance (累计方差贡献率); the bars of
# the others are grey.
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
# Points are wines, arrows are measurements. The three growers are separated although
# the components do not use the class labels. Wines on the right have many flavanoids
# and phenols, wines at the top a strong colour and much alcohol, and those of class 1
# little of either.
labels = wine.target_names[wine.target]
BiplotDisplay.from_estimator(pca, wine.data, labels=labels)
plt.show()

# %%
# How well the plane represents the measurements
# ----------------------------------------------
# In the correlation circle, the length of an arrow is the multiple correlation of its
# measurement with the two components. The arrow of flavanoids nearly reaches the
# circle; that of ash does not, so the plane explains little of ash, and the direction
# of its arrow should not be interpreted.
BiplotDisplay.from_estimator(pca)
plt.show()

# %%
# The table shows the same in numbers: the loadings (因子负荷量) of each measurement on
# the first two components, and the proportion of its variance explained by two and by
# all five components.
import pandas as pd

plane = PCA(n_components=2, standardize=True).fit(wine.data)
table = pd.DataFrame(plane.loadings_, wine.data.columns, ["y1", "y2"])
table["two components"] = plane.communalities_
table["five components"] = pca.communalities_
print(table.round(2).sort_values("two components", ascending=False).to_string())

# %%
# How well the plane represents the wines
# ---------------------------------------
# The sum of the squared cosines of a wine with the two components is the proportion of
# its squared distance from the mean that the plane represents. It is small for dark
# points, which are far from the plane, or near the mean.
shown = plane.squared_cosines(wine.data).sum(axis=1)
BiplotDisplay.from_estimator(plane, wine.data, labels=shown, kind="scores")
plt.title("squared cosine with the plane")
plt.show()

# %%
# Number of components for a classifier
# -------------------------------------
# Cross-validation of a pipeline with a nearest-neighbour classifier chooses the number
# of components (周志华《机器学习》, section 10.3).
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

pipeline = make_pipeline(PCA(standardize=True), KNeighborsClassifier())
search = GridSearchCV(pipeline, {"pca__n_components": range(1, 14)}, cv=5)
search.fit(wine.data, wine.target)
accuracies = search.cv_results_["mean_test_score"]
for n_components, accuracy in zip(range(1, 14), accuracies, strict=True):
    print(f"{n_components:2} components: accuracy {accuracy:.3f}")
