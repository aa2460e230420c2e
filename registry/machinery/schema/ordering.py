"""The order of keys that Go gives to maps: sorted, at every level.

Pure. YAML gets there on its way to JSON, and so does free JSON that kube-apiserver reads and writes again.
"""

from typing import Any

from aio_apiserver.registry.base.golang import json_numbers


def as_printed(value: Any) -> Any:
    """A copy of any JSON with sorted keys, and whole numbers without a fraction."""
    if isinstance(value, dict):
        return {key: as_printed(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [as_printed(item) for item in value]
    return json_numbers.plain(value) if isinstance(value, float) else value
