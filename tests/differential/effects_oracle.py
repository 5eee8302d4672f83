"""Marginal effects by statsmodels and marginaleffects, for test_inference.py.

Run with these two, pandas and numpy::

    python tests/differential/effects_oracle.py > tests/differential/effects.json

on the tables in ``inference_r.json``.
"""

import importlib.metadata
import json
from pathlib import Path


def main():
    """Write what the two packages find."""
    import marginaleffects
    import numpy as np
    import pandas as pd
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    CASES = json.loads(Path(__file__).with_name("inference_r.json").read_text())[
        "cases"
    ]
    WANTED = (
        "mtcars",
        "iris",
        "ToothGrowth",
        "birthwt",
        "infert",
        "Pima.tr",
        "bacteria",
        "quine",
        "warpbreaks, counts",
        "airquality, gamma",
    )
    TIGHT = {"tol": 1e-12, "maxiter": 200}

    def fit(case, table):
        columns = (
            case["columns"] if isinstance(case["columns"], list) else [case["columns"]]
        )
        renamed = {name: name.replace(".", "_") for name in table}
        renamed[case["target"]] = "target"
        table = table.rename(columns=renamed)
        terms = " + ".join(renamed[name] for name in columns)
        formula = f"{renamed[case['target']]} ~ {terms}"
        kind = case["kind"]
        if kind == "lm":
            return smf.ols(formula, table).fit(), table
        families = {
            "binomial": sm.families.Binomial(),
            "poisson": sm.families.Poisson(),
            "Gamma": sm.families.Gamma(sm.families.links.Log()),
        }
        return smf.glm(formula, table, family=families[kind]).fit(**TIGHT), table

    def list_rows(found):
        rows = []
        frame = (
            found.to_pandas() if hasattr(found, "to_pandas") else pd.DataFrame(found)
        )
        for row in frame.to_dict("records"):
            rows.append(
                {
                    "column": str(row.get("term", "")),
                    "contrast": str(row.get("contrast", "")),
                    "estimate": float(row["estimate"]),
                    "error": float(row["std_error"]),
                    **{
                        key: str(row[key])
                        for key in row
                        if key in case_columns and key not in ("estimate",)
                    },
                }
            )
        return rows

    cases = []
    for case in CASES:
        if case["name"] not in WANTED:
            continue
        table = pd.DataFrame(case["table"])
        for name, levels in (case["levels"] or {}).items():
            table[name] = pd.Categorical(table[name], categories=levels)
        model, table = fit(case, table)
        case_columns = [name.replace(".", "_") for name in (case["levels"] or {})]
        entry = {"name": case["name"]}
        entry["slopes"] = list_rows(marginaleffects.avg_slopes(model))
        entry["comparisons"] = list_rows(marginaleffects.avg_comparisons(model))
        entry["at_mean"] = list_rows(marginaleffects.slopes(model, newdata="mean"))
        entry["prediction"] = list_rows(marginaleffects.avg_predictions(model))
        if case_columns:
            entry["by"] = case_columns[0]
            entry["of_groups"] = list_rows(
                marginaleffects.avg_predictions(model, by=case_columns[0])
            )
        # Exact derivatives, of the numeric columns.
        discrete = {"binomial": smf.logit, "poisson": smf.poisson}.get(case["kind"])
        if discrete is not None:
            exact = discrete(model.model.formula, table).fit(
                method="newton", tol=1e-12, maxiter=200, disp=False
            )
            found = exact.get_margeff().summary_frame()
            numeric = [name for name in found.index if "[" not in name]
            entry["exact"] = {
                name: found.loc[name].iloc[:2].tolist() for name in numeric
            }
        cases.append(entry)

    # Several classes, by statsmodels.
    (birth,) = (case for case in CASES if case["name"] == "birthwt")
    table = pd.DataFrame(birth["table"])
    codes = table["race"].astype("category").cat.codes
    classes = sm.MNLogit(codes, sm.add_constant(table[["age", "lwt"]])).fit(
        method="newton", tol=1e-12, maxiter=200, disp=False
    )
    multinomial = {}
    for at in ("overall", "mean"):
        found = classes.get_margeff(at=at)
        multinomial[at] = {
            "effects": np.asarray(found.margeff).tolist(),
            "errors": np.asarray(found.margeff_se).tolist(),
        }
    versions = {
        name: importlib.metadata.version(name)
        for name in ("statsmodels", "marginaleffects")
    }
    print(
        json.dumps(
            {"versions": versions, "cases": cases, "multinomial": multinomial}, indent=1
        )
    )


if __name__ == "__main__":
    main()
