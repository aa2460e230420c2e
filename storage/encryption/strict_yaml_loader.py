"""The loader of configuration files: PyYAML's safe one, but that a key may come once.

It is the one in Python: the one in C overflows its stack on deep nesting and takes the process with it.
"""

from typing import Any

import yaml


class StrictLoader(yaml.SafeLoader):
    """Refuses a map that has a key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} already set", key.start_mark)
            if isinstance(key, yaml.ScalarNode):
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)
