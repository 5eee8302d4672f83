"""Dates of a time zone are written with its offset."""

import datetime
import json
import zoneinfo

import pandas as pd
import polars as pl
import pytest

from sklearn_textbook.tree import CARTClassifier, export_rules, export_text
from sklearn_textbook.tree.encode.schema import TableSchema

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
# One hour before and after the clocks go forward.
MOMENTS = [
    datetime.datetime(2024, 3, 31, 1, tzinfo=BERLIN),
    datetime.datetime(2024, 3, 31, 4, tzinfo=BERLIN),
]
UTC = [moment.astimezone(datetime.UTC) for moment in MOMENTS]
FIXED = [
    moment.astimezone(datetime.timezone(datetime.timedelta(hours=-5, minutes=-30)))
    for moment in MOMENTS
]
TABLES = {
    "pandas": pd.DataFrame({"when": MOMENTS}),
    "objects": pd.DataFrame({"when": MOMENTS}, dtype=object),
    "list": [[moment] for moment in MOMENTS],
    "polars": pl.DataFrame({"when": MOMENTS}),
    "pyarrow": pl.DataFrame({"when": MOMENTS}).to_arrow(),
}


def write_threshold(table):
    model = CARTClassifier().fit(table, [0, 1])
    return export_text(model).splitlines()[0].split("<= ")[1].split(": 0 ")[0]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_thresholds_have_the_offset_of_their_zone(table):
    assert write_threshold(table) == "2024-03-31T03:00:00+02:00"


def test_thresholds_of_other_zones():
    assert write_threshold(pd.DataFrame({"when": UTC})) == "2024-03-31T01:00:00+00:00"
    for table in (pd.DataFrame({"when": FIXED}), [[moment] for moment in FIXED]):
        assert write_threshold(table) == "2024-03-30T19:30:00-05:30"
    several = [[MOMENTS[0]], [FIXED[1]]]
    assert write_threshold(several) == "2024-03-31T01:00:00+00:00"
    without = pd.DataFrame({"when": [moment.replace(tzinfo=None) for moment in UTC]})
    assert write_threshold(without) == "2024-03-31T01:00:00"


def test_all_forms_of_rules_know_the_zone():
    model = CARTClassifier().fit(TABLES["pandas"], [0, 1])
    assert "IF when <= 2024-03-31T03:00:00+02:00 THEN 0" in export_rules(model)
    condition = export_rules(model, "dict")[0]["conditions"][0]
    moment = datetime.datetime.fromisoformat(condition["value"])
    assert moment == datetime.datetime(2024, 3, 31, 1, tzinfo=datetime.UTC)
    assert "<= '2024-03-31 01:00:00+00:00'" in export_rules(model, "sql")
    levels = CARTClassifier(categorical_features=["when"])
    levels.fit(TABLES["pandas"], [0, 1])
    assert "when = 2024-03-31T01:00:00+01:00" in export_text(levels)


def test_model_files_keep_the_zone():
    schema = CARTClassifier().fit(TABLES["polars"], [0, 1]).schema_
    fields = schema.to_dict()
    assert TableSchema.from_dict(json.loads(json.dumps(fields))) == schema
    fields["columns"][0]["time_zone"] = 1
    with pytest.raises(ValueError, match="column 'when' has the invalid time zone 1"):
        TableSchema.from_dict(fields)
    fields["columns"][0]["time_zone"] = "No/Such/Zone"
    column = TableSchema.from_dict(fields).columns[0]
    assert column.format_value(0.0) == "1970-01-01T00:00:00+00:00"
