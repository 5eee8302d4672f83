"""The study of tables that are read in blocks."""

from benchmarks.blocks import main


def test_study_runs(capsys):
    main(["--rows", "300", "900", "--memory-rows", "300", "--rounds", "2"])
    _, _, whole, blocks, large = capsys.readouterr().out.splitlines()
    assert whole.split()[1:3] == ["in", "memory"]
    assert blocks.split()[1:3] == large.split()[1:3] == ["in", "blocks"]
    assert whole.split()[-1] == blocks.split()[-1] != large.split()[-1]
