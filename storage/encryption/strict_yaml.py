"""Strict YAML: reads configuration files in YAML or JSON as strictly as kube-apiserver.

Must hold: a duplicate key in a map is an error. Error messages name the line and do not quote the file, which may hold
secrets. PyYAML is imported with the first file.

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


def load(data: bytes) -> Any:
    """The single document of the file. Raises ValueError."""
    import yaml

    try:
        return yaml.load(data, Loader=StrictLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{place}{exc.problem or exc.context}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise ValueError(f"not a YAML file: {type(exc).__name__}") from None
