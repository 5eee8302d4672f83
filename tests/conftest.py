"""What all tests share."""

import os

import hypothesis
import matplotlib

# Lets scikit-learn's checks of array API input run; scipy reads it when imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

matplotlib.use("agg")

# Machines differ in speed and share their cores, so no example is timed. The
# examples are the same in every run unless HYPOTHESIS_PROFILE=explore asks for
# new ones.
hypothesis.settings.register_profile(
    "default", deadline=None, derandomize=True, print_blob=True, max_examples=50
)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=2_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
