"""Tables of many files, which are read in blocks. Imports neither NumPy nor pyarrow."""

from __future__ import annotations

import glob
from pathlib import Path


def is_many_files(table: str) -> bool:
    """Return whether a table is a folder, or a pattern of names."""
    path = Path(table)
    return path.is_dir() or (glob.has_magic(table) and not path.exists())
