"""What model files keep of both forests and bagging, beside parameters and trees."""

from sklearn_textbook._contract.kept import Kept

#: What both forests and bagging keep of their out-of-bag estimate. What it says of
#: every training row is left out, as are the rows.
KEPT_OUT_OF_BAG = (
    Kept("oob_score_", is_optional=True, is_finite=False),
    Kept("oob_curve_", shape=(None,), is_optional=True, is_finite=False),
)
