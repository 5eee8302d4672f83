"""The books' tables as csv files (see README.md in this folder)."""
