"""Ordinal regressions of statsmodels, on columns of numbers, for test_families.py.

Run with statsmodels::

    python tests/differential/ordinal_oracle.py > .../ordinal_statsmodels.json

on the tables in ``families_r.json``.
"""

import json
from pathlib import Path

LINKS = {"logistic": "logit", "probit": "probit"}


def main():
    """Write what statsmodels finds."""
    import pandas as pd
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    read = json.loads(Path(__file__).with_name("families_r.json").read_text())
    cases = {case["name"]: case for case in read["ranked"]}
    found = {}
    for name in ("random logistic", "random probit", "births logistic"):
        case = cases[name]
        X = pd.DataFrame(case["table"])[case["columns"]].drop(
            columns=list(case["levels"]), errors="ignore"
        )
        target = pd.Categorical(
            case["table"][case["target"]], case["classes"], ordered=True
        )
        model = OrderedModel(pd.Series(target), X, distr=LINKS[case["method"]])
        fit = model.fit(method="newton", disp=False, maxiter=200)
        ends = model.transform_threshold_params(fit.params.to_numpy())
        n_columns = X.shape[1]
        found[name] = {
            "columns": list(X),
            "coef": fit.params[:n_columns].tolist(),
            "errors": fit.bse[:n_columns].tolist(),
            "thresholds": ends[1:-1].tolist(),
            "log_likelihood": float(fit.llf),
            "aic": float(fit.aic),
        }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
