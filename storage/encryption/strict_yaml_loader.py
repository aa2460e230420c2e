"""Strict YAML loader: PyYAML's SafeLoader, which also refuses duplicate keys.

It is the loader in Python. The loader in C overflows its stack on deep nesting and ends the process.
"""

from typing import Any

import yaml


class StrictLoader(yaml.SafeLoader):
    """Refuses a map with duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} already set", key.start_mark)
            if isinstance(key, yaml.ScalarNode):
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)
