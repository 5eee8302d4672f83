"""
How many rounds gradient boosting needs
=======================================

With too many rounds, gradient boosting (梯度提升) fits the noise of its training rows.
The loss on held-out rows shows when to stop, and ``fit`` can do this automatically.
"""

# %%
# A mixed table with missing values
# ---------------------------------
# The table has numeric, nominal and ordinal columns; 10 % of the values are missing and
# 10 % of the labels are wrong. No encoding or imputation is needed.
from sklearn.model_selection import train_test_split

from sklearn_textbook.datasets import make_mixed_table

X, y = make_mixed_table(
    6_000,
    n_rules=8,
    label_noise=0.1,
    missing_fraction=0.1,
    as_frame=True,
    random_state=0,
)
X, X_test, y, y_test = train_test_split(X, y, test_size=2_000, random_state=0)
X.head()

# %%
# Overfitting
# -----------
# The training loss keeps decreasing. The validation loss has a minimum, which comes
# earlier for larger learning rates, and then increases.
import matplotlib.pyplot as plt

from sklearn_textbook.ensemble import GradientBoostingClassifier
from sklearn_textbook.inspection import LearningRoundsDisplay

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, learning_rate in zip(axes, (0.2, 0.05), strict=True):
    model = GradientBoostingClassifier(n_estimators=300, learning_rate=learning_rate)
    model.fit(X, y)
    display = LearningRoundsDisplay.from_estimator(
        model, X, y, X_test=X_test, y_test=y_test, ax=ax, legend=ax is axes[1]
    )
    best = display.test.argmin()
    print(
        f"learning rate {learning_rate}: smallest test loss {display.test[best]:.4f} "
        f"after {best + 1} rounds, {display.test[-1]:.4f} after {len(display.test)}"
    )
    ax.set_title(f"learning_rate={learning_rate}")
plt.show()

# %%
# Early stopping
# --------------
# With ``n_iter_no_change=20``, fitting ends when twenty rounds in a row have not
# decreased the validation loss. The validation rows are a tenth of the training rows,
# or ``X_val`` and ``y_val`` if they are passed to ``fit``. With ``subsample`` below 1,
# each tree is grown on a sample of the rows, and the line "out-of-bag" is the loss on
# the others. It underestimates the loss on new rows, because earlier trees were grown
# on these rows.
model = GradientBoostingClassifier(
    n_estimators=1_000,
    learning_rate=0.05,
    subsample=0.5,
    n_iter_no_change=20,
    random_state=0,
).fit(X, y)
print(f"{model.n_estimators_} rounds, accuracy {model.score(X_test, y_test):.3f}")
LearningRoundsDisplay.from_estimator(model, X_test=X_test, y_test=y_test)
plt.show()

# %%
# Loss and error
# --------------
# Misclassified rows can increase the loss without adding errors. Too many rounds
# therefore affect the test error less than the predicted probabilities.
model = GradientBoostingClassifier(n_estimators=300, learning_rate=0.2).fit(X, y)
LearningRoundsDisplay.from_estimator(
    model, X, y, X_test=X_test, y_test=y_test, metric="error"
)
plt.show()

# %%
# Other boosting algorithms
# -------------------------
# Any estimator with ``staged_predict`` can be plotted, such as the boosting tree,
# scikit-learn's estimators, and AdaBoost, here with trees of depth 4. Its training
# error stays below the bound :math:`\prod_m Z_m`, and both decrease, while the test
# error increases because of the wrong labels.
from sklearn_textbook.ensemble import AdaBoostClassifier
from sklearn_textbook.tree import CARTClassifier

model = AdaBoostClassifier(CARTClassifier(max_depth=4), n_estimators=200).fit(X, y)
LearningRoundsDisplay.from_estimator(model, X, y, X_test=X_test, y_test=y_test)
plt.show()
