"""Ordinal regressions of statsmodels, of columns of numbers, for test_families.py.

The output is ``ordinal_statsmodels.json``.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.miscmodels.ordinal_model import OrderedModel

FOUND = json.loads(Path(__file__).with_name("families_r.json").read_text())
CASES = {case["name"]: case for case in FOUND["ranked"]}
LINKS = {"logistic": "logit", "probit": "probit"}

found = {}
for name in ("random logistic", "random probit", "births logistic"):
    case = CASES[name]
    table = pd.DataFrame(case["table"])
    X = table[[column for column in case["columns"] if column not in case["levels"]]]
    y = pd.Categorical(table[case["target"]], case["classes"], ordered=True)
    model = OrderedModel(pd.Series(y), X, distr=LINKS[case["method"]])
    fit = model.fit(method="newton", disp=False, maxiter=200, tol=1e-12)
    found[name] = {
        "columns": list(X),
        "coef": fit.params[: X.shape[1]].tolist(),
        "errors": fit.bse[: X.shape[1]].tolist(),
        "thresholds": model.transform_threshold_params(np.asarray(fit.params))[
            1:-1
        ].tolist(),
        "log_likelihood": float(fit.llf),
        "aic": float(fit.aic),
    }
print(json.dumps(found, indent=1))
