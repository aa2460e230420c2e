"""Configuration files in YAML (or JSON): read as kube-apiserver reads its own, strictly.

Must hold: a key that comes twice in a map is an error, not a silent choice; error messages tell the place and never
quote the file, which may hold secrets.
"""

from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """The loader in Python: the one in C overflows its stack on deep nesting and takes the process with it."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} already set", key.start_mark)
            if isinstance(key, yaml.ScalarNode):
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def load(data: bytes) -> Any:
    """The one document in the file. Raises ValueError."""
    try:
        return yaml.load(data, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{place}{exc.problem or exc.context}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise ValueError(f"not a YAML file: {type(exc).__name__}") from None
