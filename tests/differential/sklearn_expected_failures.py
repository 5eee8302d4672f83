"""scikit-learn's own tests that a tree of another make cannot pass, and why.

A key is ``file::function`` for every case of a test, or with the case in square
brackets. The table is strict: a declared test that passes, or one that no longer
exists, makes the run fail.
"""

EXPECTED_FAILURES = {
    "test_tree.py::test_build_pruned_tree_py": (
        "hands tree_ to a compiled function that takes scikit-learn's Tree only"
    ),
    "test_tree.py::test_build_pruned_tree_infinite_loop": (
        "hands tree_ to a compiled function that takes scikit-learn's Tree only"
    ),
    "test_tree.py::test_huge_allocations": (
        "wants the MemoryError of a node array of 2 * max_leaf_nodes - 1 records, "
        "which the compiled builder allocates before it grows; our tree takes the "
        "memory of the nodes it has"
    ),
    "test_tree.py::test_big_input": (
        "wants 1e40 refused because the compiled tree stores float32; our columns "
        "are float64, where 1e40 is a number like any other"
    ),
    "test_tree.py::test_almost_constant_feature[CARTClassifier]": (
        "wants values closer than the compiled partitioner's 1e-7 taken as equal; "
        "our ranks are exact, whatever the unit of a column"
    ),
    "test_tree.py::test_almost_constant_feature[CARTRegressor]": (
        "wants values closer than the compiled partitioner's 1e-7 taken as equal; "
        "our ranks are exact, whatever the unit of a column"
    ),
}
