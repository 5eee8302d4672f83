"""Fits where scikit-learn has no callbacks, as before version 1.9."""

import importlib
import sys

import pytest

from sklearn_textbook._contract import fitting


@pytest.fixture
def without(monkeypatch):
    """The module as it is imported with an older scikit-learn."""
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    spec = importlib.util.find_spec(fitting.__name__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nobody_is_told(without):
    class Model(without.CallbackSupportMixin):
        @without.with_callbacks
        def fit(self, n_tasks):
            """Fit in some tasks."""
            context = self._init_callback_context(max_subtasks=n_tasks)
            context.call_on_fit_task_begin(estimator=self, X=None)
            done = 0
            for number in range(n_tasks):
                task = context.subcontext(task_name=f"task {number}")
                task.call_on_fit_task_begin(estimator=self)
                with task.propagate_callback_context(self):
                    done += 1
                if task.call_on_fit_task_end(estimator=self):
                    break
            context.call_on_fit_task_end(estimator=self)
            return done

    assert Model().fit(3) == 3


def test_those_of_scikit_learn_where_there_are():
    has_them = importlib.util.find_spec("sklearn.callback") is not None
    is_theirs = fitting.CallbackSupportMixin.__module__.startswith("sklearn.")
    assert is_theirs == has_them
