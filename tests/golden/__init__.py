"""Results printed in the textbooks; "fields" in textbook.json explains the entries."""

import json
from functools import cache
from pathlib import Path


@cache
def _read_text():
    return (Path(__file__).parent / "textbook.json").read_text("utf-8")


def example_ids():
    """Names of all examples."""
    return list(json.loads(_read_text())["examples"])


def get_example(example_id):
    """One example as a dict: printed, verified, ties, nodes and so on."""
    examples = json.loads(_read_text())["examples"]
    if example_id not in examples:
        raise KeyError(f"no golden example {example_id!r}; there are {list(examples)}")
    return examples[example_id]
