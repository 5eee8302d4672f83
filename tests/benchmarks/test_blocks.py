"""The study of tables that are read in blocks."""

from benchmarks.blocks import main


def test_study_runs(capsys):
    options = ["--memory-rows", "300", "--rounds", "2", "--models", "boosting", "CART"]
    main(["--rows", "300", "900", *options])
    _, _, *lines = capsys.readouterr().out.splitlines()
    hows = [line.split()[2:4] for line in lines]
    assert hows == [["in", "memory"], ["in", "blocks"]] * 2 + [["in", "blocks"]] * 2
    boosting, of_blocks, tree, tree_of_blocks, *large = [
        line.split()[-1] for line in lines
    ]
    assert boosting == of_blocks not in (tree, *large)
    assert tree == tree_of_blocks not in large
