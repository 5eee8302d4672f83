"""Tests of many small cases: a loop, where pytest would take longer than each case."""

from functools import wraps
from inspect import signature


def loop_over(names, cases):
    """Run a test for each of some cases, as one test.

    As ``pytest.mark.parametrize`` otherwise. What fails names its case in a note. Cases
    share fixtures, and cannot be skipped.

    Parameters
    ----------
    names : str or tuple of str
        Names of the arguments.
    cases : iterable
        For each case the argument, or a tuple of arguments where there is one of names.
    """
    is_one = isinstance(names, str)
    names, cases = (names,) if is_one else names, list(cases)
    assert cases

    def decorate(test):
        @wraps(test)
        def run(**others):
            for case in cases:
                values = (case,) if is_one else case
                arguments = dict(zip(names, values, strict=True))
                try:
                    test(**arguments, **others)
                except BaseException as error:
                    error.add_note(f"in the case {arguments}")
                    raise

        asked = signature(test)
        left = [value for name, value in asked.parameters.items() if name not in names]
        run.__signature__ = asked.replace(parameters=left)
        return run

    return decorate
