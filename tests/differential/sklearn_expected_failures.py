"""scikit-learn's own tests that an estimator of another make cannot pass, and why.

A key is ``file::function`` for every case of a test, or with the case in square
brackets. The table is strict: a declared test that passes, or one that no longer
exists, makes the run fail.
"""

#: Declared cases of which rounding decides whether they pass: those with random
#: numbers and no seed, where two equal numbers differ in their last digits, and one
#: that compares these digits.
ROUNDING_DECIDES = {
    "test_coordinate_descent.py::test_lasso_dual_gap",
    "test_pca.py::test_pca_score[arpack]",
    "test_pca.py::test_pca_score[randomized]",
}

LUCK = "depends on the luck of a seed, for which our draws at a node are others"

IN_PLACE = "wants copy_X=False to overwrite X; ours never writes to it"

#: Two files are called test_gradient_boosting.py.
EXACT, BINNED = (
    "test_gradient_boosting.py::",
    "_hist_gradient_boosting/test_gradient_boosting.py::",
)
MONOTONIC = "_hist_gradient_boosting/test_monotonic_constraints.py::"
WARM = "_hist_gradient_boosting/test_warm_start.py::"

NO_INFINITY = "wants infinite values; ours are refused everywhere"

NEWTON = (
    "wants splits chosen by the residuals alone, and twice the mean loss in "
    "train_score_; ours are chosen by the second derivatives, too"
)

UNSEEN = (
    "wants levels never seen treated as missing values; a row of ours ends at the node "
    "that asks for its level"
)

#: Parts of the names of two cases.
NO_ORDER = "Categorical features cannot have monotonic constraints"
BYTES = (
    r"categorical_features\\ must\\ be\\ an\\ array\\-like\\ of\\ bool,\\ int\\ "
    r"or\\ str,\\ got:\\ bytes40\\."
)

#: Whether the loss of a few validation rows falls once more.
FEW_ROWS = "depends on which rows judge, and ours are others"

CARDINALITY = (
    "wants nominal columns of more levels than max_bins refused; ours, which divides "
    "numbers alone, takes them"
)

GRADIENT_BOOSTING = {
    **{
        f"{EXACT}test_warm_start_oob_switch[{name}]": (
            "wants losses of 0 for rounds that no row has judged; ours are NaN"
        )
        for name in ("GradientBoostingRegressor", "GradientBoostingClassifier")
    },
    EXACT + "test_raise_if_init_has_no_predict_proba": (
        "wants scikit-learn's words of an init that cannot predict"
    ),
    EXACT + "test_single_class_with_sample_weight": (
        "wants classes whose rows all weigh nothing refused; ours get a probability of "
        "nearly 0"
    ),
    EXACT + "test_max_feature_regression": "calls the private attribute _loss",
    EXACT + "test_oob_improvement": LUCK,
    EXACT + "test_verbose_output": "wants the lines scikit-learn prints",
    EXACT + "test_more_verbose_output": "wants the lines scikit-learn prints",
    EXACT + "test_monitor_early_stopping": "wants monitor; ours has callbacks",
    EXACT + "test_early_stopping_stratified": (
        "wants classes of one row refused; of ours that row grows trees"
    ),
    EXACT + "test_early_stopping_n_classes": (
        "wants an error where no row of a class grows trees; of ours one always does"
    ),
    EXACT + "test_squared_error_exact_backward_compat": (
        "wants squared residuals in train_score_, which is the mean loss of ours, half "
        "as much"
    ),
    EXACT + "test_huber_overfit": "reads the private attribute _loss",
    EXACT + "test_binomial_error_exact_backward_compat": NEWTON,
    EXACT + "test_multinomial_error_exact_backward_compat": NEWTON,
    **{
        f"{BINNED}test_init_parameters_validation[params{number}-err_msg{number}-"
        f"HistGradientBoosting{kind}-X{place}-y{place}]": (
            "wants scikit-learn's words of columns that do not exist"
        )
        for number in (1, 2, 3)
        for place, kind in enumerate(("Classifier", "Regressor"))
    },
    **{
        f"{BINNED}test_categorical_spec_errors[{case}-HistGradientBoosting{kind}]": (
            "wants scikit-learn's words of categorical_features"
        )
        for case in (
            rf"categorical_features0-None-{BYTES}",
            f"categorical_features4-monotonic_cst4-{NO_ORDER}",
        )
        for kind in ("Classifier", "Regressor")
    },
    BINNED + "test_gamma_y_positive": "wants scikit-learn's words of the target",
    BINNED + "test_poisson_y_positive": "wants scikit-learn's words of the target",
    BINNED + "test_infinite_values": NO_INFINITY,
    BINNED + "test_consistent_lengths": NO_INFINITY,
    BINNED + "test_infinite_values_missing_values": NO_INFINITY,
    BINNED + "test_sample_weight_effect": (
        "wants bins of equal weight; those of ours have equal numbers of rows"
    ),
    **{
        f"{BINNED}test_unknown_categories_nan[{case}]": UNSEEN
        for case in (
            "nan-True-HistGradientBoostingRegressor-False",
            "nan-True-HistGradientBoostingRegressor-True",
            "nan-False-HistGradientBoostingRegressor-False",
            "nan-False-HistGradientBoostingRegressor-True",
            "-1-True-HistGradientBoostingRegressor-True",
            "-1-False-HistGradientBoostingRegressor-True",
        )
    },
    BINNED + "test_unknown_category_that_are_negative": UNSEEN,
    BINNED + "test_categorical_bad_encoding_errors": CARDINALITY,
    BINNED + "test_dataframe_categorical_errors": CARDINALITY,
    BINNED + "test_X_val_in_fit": (
        "wants the validation rows that train_test_split draws; ours draws others"
    ),
    BINNED + "test_X_val_raises_missing_y_val": (
        "wants scikit-learn's words of validation rows without target"
    ),
    BINNED + "test_X_val_raises_with_early_stopping_false": (
        "wants scikit-learn's words of validation rows that judge nothing"
    ),
    MONOTONIC + "test_input_error": "wants scikit-learn's words of monotonic_cst",
    MONOTONIC + "test_input_error_related_to_feature_names": (
        "wants scikit-learn's words of monotonic_cst"
    ),
    **{
        BINNED + f"test_early_stopping_classification[{case}-data1]": FEW_ROWS
        for case in (
            f"{scoring}-0.1-True-5-1e-07" for scoring in ("accuracy", "None", "loss")
        )
    },
    **{
        f"{WARM}test_warm_start_early_stopping[{scoring}-HistGradientBoostingRegressor-"
        "X1-y1]": FEW_ROWS
        for scoring in ("None", "loss")
    },
    WARM + "test_max_iter_with_warm_start_validation": (
        "wants the name max_iter in the message; that of ours is n_estimators"
    ),
}

COMBINATION = {
    **{
        f"test_voting.py::{test}": "wants the name VotingRegressor; ours is averaging"
        for test in (
            "test_notfitted",
            "test_voting_verbose[estimator0]",
            "test_get_features_names_out_regressor",
        )
    },
    **{
        f"test_stacking.py::test_stacking_classifier_multilabel_{test}": (
            "wants several labels per row; ours refuses them"
        )
        for test in ("predict_proba", "decision_function", "auto_predict")
    },
    "test_stacking.py::test_stacking_classifier_base_regressor": (
        "wants a logistic second learner, which finds the middle one of three classes "
        "in one column; ours is linear"
    ),
}

EXPECTED_FAILURES = {
    "test_coordinate_descent.py::test_enet_nonfinite_params": (
        "wants words of numbers whose squares overflow; ours names the column"
    ),
    "test_coordinate_descent.py::test_lasso_dual_gap": (
        "wants the digits of a gap that is rounding alone; ours is sought by equations"
    ),
    "test_coordinate_descent.py::test_warm_start": (
        "wants two times five sweeps to be ten; ours change between all columns and "
        "those that are not 0, and begin with all"
    ),
    "test_coordinate_descent.py::test_lasso_alpha_warning": (
        "wants a warning of slow convergence for alpha=0; ours solves the equations"
    ),
    "test_coordinate_descent.py::test_warm_start_convergence": (
        "wants no sweep from the minimum; ours makes one"
    ),
    "test_coordinate_descent.py::test_enet_float_precision": (
        "wants coefficients in single precision; ours are in double"
    ),
    **GRADIENT_BOOSTING,
    **COMBINATION,
    "test_base.py::test_raises_value_error_if_positive_and_sparse": (
        "wants sparse X refused with positive=True; ours fits it"
    ),
    "test_base.py::test_inplace_data_preprocessing[42-True-None]": IN_PLACE,
    "test_base.py::test_inplace_data_preprocessing[42-False-None]": IN_PLACE,
    "test_glm.py::test_sample_weights_validation": (
        "wants scikit-learn's words of weights that are not one-dimensional"
    ),
    "test_glm.py::test_linalg_warning_with_newton_solver": (
        "wants a warning that one solver gives way to another where columns depend on "
        "each other; ours goes on, and rank_ says so"
    ),
    "test_glm.py::test_poisson_regressor_array_api_compliance": (
        "wants an intercept_ that is an array while arrays of other libraries are "
        "dispatched; ours is a number"
    ),
    "test_multiclass.py::test_ecoc_fit_predict": (
        "wants 6 columns for 3 classes, of which only 3 are different; ours refuses"
    ),
    "test_multiclass.py::test_ecoc_delegate_sparse_base_estimator": (
        "wants 4 columns for 3 classes by default; ours has the 3 different ones"
    ),
    "test_pca.py::test_pca_score": (
        "wants whiten=True to lower the likelihood, as get_covariance there multiplies "
        "the variances twice; how scores are scaled does not change the density of X"
    ),
    "test_weight_boosting.py::test_adaboost_classifier_sample_weight_error": (
        "wants scikit-learn's words of weights that are not one for each row"
    ),
    "test_weight_boosting.py::test_adaboost_negative_weight_error[model0-X0-y0]": (
        "wants scikit-learn's words of negative weights"
    ),
    "test_weight_boosting.py::test_sample_weights_infinite": (
        "wants a warning that weights have overflowed; ours never do"
    ),
    "test_weight_boosting.py::test_multidimensional_X": (
        "wants tables of three dimensions; ours have two"
    ),
    "test_weight_boosting.py::test_adaboost_decision_function": (
        "wants decisions divided by the sum of the members' weights; ours are the "
        "additive model of the book"
    ),
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
    "test_forest.py::test_validate_y_class_weight": (
        "calls the private method _validate_y_class_weight"
    ),
    "test_forest.py::test_mse_criterion_object_segfault_smoke_test": (
        "gives one of the compiled criterion objects as the criterion"
    ),
    "test_forest.py::test_distribution": (
        "writes a tree down in the order of its node numbers, which are depth first in "
        "scikit-learn and breadth first here; test_forests.py counts the same trees"
    ),
    "test_forest.py::test_poisson_y_positive_check": (
        "wants other words of the forest (not strictly positive) than test_tree.py "
        "wants of the tree (not positive); ours are the tree's"
    ),
    "test_forest.py::test_importances_asymptotic": (
        f"{LUCK}: the mean deviation of 500 random trees is below 0.01 for 14 of 20 "
        "seeds there and 17 of 20 here, though not for seed 0"
    ),
} | {
    f"test_forest.py::test_forest_classifier_oob[True-X1-y1-0.65-{kind}-"
    "ExtraTreesClassifier]": (
        f"{LUCK}: over 40 seeds the out-of-bag accuracy is 0.67 both there and here, "
        "with a standard deviation of 0.016; seed 0 has 0.646 here, and the test "
        "wants 0.65"
    )
    for kind in ("array", "sparse_csr", "sparse_csc")
}

LARGE_INDICES = (
    "wants indices of 64 bits refused, which the compiled solvers of scikit-learn do "
    "not read; ours has no such limit"
)
ITS_PARAMETERS = (
    "wants errors and warnings of what one solver or another does not take, which is "
    "all one to ours: L1 penalties, dual=True, n_jobs, an l1_ratio of 0 with 'l1'"
)

EXPECTED_FAILURES |= {
    "test_logistic.py::test_multinomial_logistic_regression_string_inputs": (
        "gives a class the weight 0 and wants it among the classes; its coefficients "
        "would be what the penalty alone says, and without one there are none"
    ),
    "test_logistic.py::test_logreg_predict_proba_multinomial": (
        "calls the private method _predict_proba_lr"
    ),
    "test_logistic.py::test_newton_cholesky_fallback_to_lbfgs": (
        "counts the iterations of lbfgs, to which scikit-learn's newton-cholesky turns "
        "if columns depend on each other; ours goes on with Newton's steps"
    ),
    "test_logistic.py::test_sparsify": (
        "calls sparsify and densify, which keep coefficients as a sparse matrix"
    ),
}
EXPECTED_FAILURES |= {
    f"test_logistic.py::test_large_sparse_matrix[{container}-{solver}]": LARGE_INDICES
    for container in ("csr_matrix", "csr_array")
    for solver in ("liblinear", "sag", "saga")
}
EXPECTED_FAILURES |= {
    f"test_logistic.py::{name}": ITS_PARAMETERS
    for name in (
        "test_check_solver_option[LogisticRegression]",
        "test_l1_ratio_non_elasticnet",
        "test_logisticregression_warns_with_n_jobs",
        "test_lr_penalty_l1ratio_incompatible[l1-0.0]",
    )
}
EXPECTED_FAILURES |= {
    "test_logistic.py::test_liblinear_dual_random_state": (
        "wants liblinear's dual solver to give other coefficients for another seed"
    ),
    "test_logistic.py::test_liblinear_with_large_values": (
        "wants numbers above 1e30 refused, which liblinear does not read; ours scales "
        "them"
    ),
    "test_logistic.py::test_logistic_cv": (
        "compares with liblinear inside LogisticRegressionCV, which is scikit-learn's "
        "own and stops earlier than ours"
    ),
    "test_logistic.py::test_logistic_cv_multinomial_score[neg_log_loss-"
    "multiclass_agg_list3]": (
        "sets coefficients of an estimator that was never fitted, and wants "
        "probabilities of it"
    ),
    "test_logistic.py::test_logistic_regression_callback_support[0]": (
        "wants one task of an iteration for max_iter=0; ours has none"
    ),
    "test_logistic.py::test_logistic_regression_callback_support_warning": (
        "wants a warning that only lbfgs has callbacks; all solvers of ours have them"
    ),
}
