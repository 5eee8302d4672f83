"""Files are written whole or not at all, and stay what they are."""

import os
import stat
import sys
import threading
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from sklearn_textbook._contract import written_files
from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.exchange import to_pmml
from sklearn_textbook.io import (
    ModelFileError,
    TableFileError,
    load_model,
    save_model,
    write_arff,
    write_c45,
)
from sklearn_textbook.io.table_writer import choose_writer
from sklearn_textbook.tree import CARTClassifier, export_graphviz, to_html

FRAME = pd.DataFrame({"size": [1.0, 2.0], "y": ["a", "b"]})
TREE = CARTClassifier().fit([[1.0], [2.0]], ["a", "b"])
posix_only = pytest.mark.skipif(os.name != "posix", reason="requires POSIX files")


def write_table(path):
    """Write the frame in the format of the ending."""
    choose_writer(str(path))(pa.Table.from_pandas(FRAME), str(path))


#: Every public writer, by the name of a file.
WRITERS = {
    "model.json": lambda path: save_model(TREE, path),
    "table.arff": lambda path: write_arff(FRAME, path),
    "table.data": lambda path: write_c45(FRAME, path, target="y"),
    "page.html": lambda path: to_html(TREE, path),
    "tree.dot": lambda path: export_graphviz(TREE, path),
    "tree.pmml": lambda path: to_pmml(TREE, path),
    **{
        f"table.{ending}": write_table
        for ending in ("csv", "csv.gz", "jsonl", "parquet", "feather", "xlsx")
    },
}


@pytest.fixture(params=WRITERS)
def writer(request, tmp_path):
    """A path in an empty folder, and what writes it."""
    if request.param.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    return tmp_path / request.param, WRITERS[request.param]


def test_full_disk_keeps_what_was_there(writer, monkeypatch):
    path, write = writer
    write(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}

    def fail(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((OSError, ModelFileError, TableFileError), match="No space"):
        write(path)
    after = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert after == before


@posix_only
def test_link_and_mode_are_kept(writer):
    path, write = writer
    target = path.with_name(f"target{''.join(path.suffixes)}")
    target.write_bytes(b"")
    target.chmod(0o600)
    path.symlink_to(target.name)
    write(path)
    assert path.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.stat().st_size


@posix_only
def test_pipe_is_written_into(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.daemon = True
    reader.start()
    save_model(TREE, path)
    assert path.is_fifo()
    reader.join(10)
    copy = tmp_path / "copy.json"
    copy.write_bytes(read[0])
    assert load_model(copy).predict([[1.0]]) == ["a"]


@posix_only
def test_terminal_is_written_into():
    """A pseudo-terminal is a character device like /dev/null."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    try:
        path = os.ttyname(slave)
        write_file(path, "text\n")
        assert os.read(master, 100).split() == [b"text"]
        assert stat.S_ISCHR(os.stat(path).st_mode)
    finally:
        os.close(master)
        os.close(slave)


def test_redirected_output_is_continued(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    with path.open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        print("before")
        write_file(path, "content\n")
        print("after")
    assert path.read_text("utf-8").split() == ["before", "content", "after"]


def test_other_kinds_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ModelFileError, match="is a folder; give the path of a file"):
        save_model(TREE, tmp_path)
    path = tmp_path / "disk"
    path.write_bytes(b"content")
    monkeypatch.setattr(written_files.stat, "S_ISREG", lambda mode: False)
    with pytest.raises(ModelFileError, match="disk: .* neither a file nor a pipe"):
        save_model(TREE, path)
    assert path.read_bytes() == b"content"


def test_folder_without_new_files(tmp_path, monkeypatch):
    """The superuser may do everything, so permissions are simulated."""
    path = tmp_path / "table.csv"
    path.write_text("before")
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != tmp_path)
    with pytest.raises(TableFileError, match=r"its folder .* allows no new file"):
        choose_writer(path)
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != path)
    with pytest.raises(TableFileError, match="Permission denied"):
        choose_writer(path)


def test_longest_name(tmp_path):
    path = tmp_path / ("m" * 250 + ".json")
    save_model(TREE, path)
    assert load_model(path).predict([[2.0]]) == ["b"]
    with pytest.raises(ModelFileError, match="cannot be written"):
        save_model(TREE, tmp_path / ("m" * 300))


def test_threads_write_one_path(tmp_path):
    path = tmp_path / "text"
    texts = {f"{number}" * 200_000 for number in range(4)}
    errors = []

    def write(text):
        try:
            for _ in range(10):
                write_file(path, text)
                if path.read_text("utf-8") not in texts:
                    errors.append("mixed")
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert list(tmp_path.iterdir()) == [path]


@posix_only
def test_new_files_have_the_mode_of_the_process(tmp_path):
    expected = tmp_path / "expected"
    expected.write_text("")
    path = Path(tmp_path, "new")
    write_file(path, "")
    assert path.stat().st_mode == expected.stat().st_mode
