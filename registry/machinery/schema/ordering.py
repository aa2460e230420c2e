"""Ordering: sorts the keys of arbitrary JSON at every level, as Go prints maps.

Pure. For YAML on its way to JSON, and for arbitrary JSON that kube-apiserver decodes and prints again.
"""

from typing import Any

from aio_apiserver.registry.base.golang import json_numbers


def as_printed(value: Any) -> Any:
    """A copy with sorted keys and with whole numbers without fraction."""
    if isinstance(value, dict):
        return {key: as_printed(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [as_printed(item) for item in value]
    return json_numbers.plain(value) if isinstance(value, float) else value
