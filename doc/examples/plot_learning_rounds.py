"""
How many rounds gradient boosting needs
=======================================

Gradient boosting (梯度提升) goes on learning as long as one lets it, in the end the
noise of its training rows. Its loss on other rows tells when to stop, and ``fit`` can
see to that itself.
"""

# %%
# A table with text and gaps
# --------------------------
# Numbers, categories and ordered categories; one value in ten is missing, one label in
# ten is wrong. Nothing has to be encoded or filled in.
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
# Too many rounds
# ---------------
# The loss of the training rows goes on falling. That of other rows is smallest after
# some rounds, the sooner the larger the learning rate is, and rises again.
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
# Stopping early
# --------------
# With ``n_iter_no_change=20`` growth ends when twenty rounds have not made the loss of
# the validation rows smaller. These are a tenth of the training rows, or rows that
# ``fit`` is given as ``X_val`` and ``y_val``. With ``subsample`` below 1 each tree sees
# some of the rows, and those left out judge it: their loss is the line "out-of-bag". It
# is no estimate for new rows, as earlier trees have seen these rows.
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
# Rows that are wrong already make the loss larger without making more errors. The error
# of new rows therefore suffers less from too many rounds than their probabilities do.
model = GradientBoostingClassifier(n_estimators=300, learning_rate=0.2).fit(X, y)
LearningRoundsDisplay.from_estimator(
    model, X, y, X_test=X_test, y_test=y_test, metric="error"
)
plt.show()

# %%
# Other boosting
# --------------
# Whatever has ``staged_predict`` can be drawn: the boosting tree, scikit-learn's own
# estimators, and AdaBoost, here of trees of depth 4. Its training error stays below the
# bound :math:`\prod_m Z_m`, and both fall; where labels are wrong, the error of new
# rows rises meanwhile.
from sklearn_textbook.ensemble import AdaBoostClassifier
from sklearn_textbook.tree import CARTClassifier

model = AdaBoostClassifier(CARTClassifier(max_depth=4), n_estimators=200).fit(X, y)
LearningRoundsDisplay.from_estimator(model, X, y, X_test=X_test, y_test=y_test)
plt.show()
