"""No public name or signature changes unless it is meant to."""

import json

from tests.public_api import FROZEN, describe_api


def test_public_api_is_frozen():
    """``python -m tests.public_api`` renews the file; its difference shows what."""
    api, frozen = describe_api(), json.loads(FROZEN.read_text("utf-8"))
    assert api.keys() == frozen.keys()
    for module, names in api.items():
        assert names == frozen[module]
