"""`parley schema`: the JSON Schema of an episode record, made from the types."""

from __future__ import annotations

import json
from collections.abc import Sequence

from parley.store import schema


def command(arguments: Sequence[str]) -> int:
    """Prints the schema."""
    print(json.dumps(schema(), indent=2))
    return 0
