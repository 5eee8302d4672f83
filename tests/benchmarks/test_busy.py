"""A tiny run of the works beside a busy program."""

import pytest

from benchmarks.__main__ import main
from benchmarks.busy import WORKS, Slowdown


def test_works_run(capsys):
    assert main(["busy", "--scale", "0.002", "--repeat", "1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in printed[::2]] == list(WORKS)
    assert all("n_jobs=None" in line for line in printed[1::2])


def test_verdict():
    assert str(Slowdown("cart", 2, 0.1, 1.1)).endswith("pass)")
    assert str(Slowdown("cart", 2, 0.1, 1.2)).endswith("short)")


def test_unknown_work_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["busy", "none"])
    assert "beside a busy program: cart" in capsys.readouterr().err
