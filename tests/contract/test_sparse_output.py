"""Sparse results follow ``sparse_interface`` of scikit-learn's configuration."""

import numpy as np
import pytest
import sklearn
from scipy import sparse

from sklearn_textbook.ensemble import RandomForestClassifier, compute_proximities
from sklearn_textbook.tree import C45Classifier, CARTClassifier

SETTINGS = [({}, sparse.spmatrix)]
if "sparse_interface" in sklearn.get_config():
    SETTINGS.append(({"sparse_interface": "spmatrix"}, sparse.spmatrix))
    SETTINGS.append(({"sparse_interface": "sparray"}, sparse.sparray))

rng = np.random.default_rng(0)
X = rng.random((60, 3)) * (rng.random((60, 3)) > 0.3)
y = (X[:, 0] > 0.5) ^ (rng.random(60) < 0.1)


@pytest.mark.parametrize(("setting", "kind"), SETTINGS)
@pytest.mark.parametrize("table", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
def test_results_are_of_the_kind_that_is_set(setting, kind, table):
    tree, c45 = CARTClassifier().fit(table, y), C45Classifier().fit(table, y)
    forest = RandomForestClassifier(5, random_state=0).fit(table, y)
    expected = tree.decision_path(table).toarray()
    with sklearn.config_context(**setting):
        results = {
            "tree": tree.decision_path(table),
            "grown tree": tree.tree_.decision_path(table),
            "c45": c45.decision_path(table),
            "forest": forest.decision_path(table)[0],
            "proximities": compute_proximities(forest, table, dense=False),
            "to others": compute_proximities(forest, table, table[:3], dense=False),
        }
    for name, result in results.items():
        assert isinstance(result, kind), name
        assert result.format == "csr"
    assert results["tree"].has_canonical_format
    np.testing.assert_array_equal(results["tree"].toarray(), expected)
