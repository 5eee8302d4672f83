"""Files for the command to read."""

from pathlib import Path


def write(name, text):
    """Write a text file; its path."""
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path
