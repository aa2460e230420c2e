"""Duplicate keys in YAML, in the words of Go's strict YAML decoder.

Works on the composed nodes that the reader of the document has at hand; a document without duplicates costs one walk.
Must hold: a node is walked once, however many aliases refer to it; merged maps count like keys written out.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang import quoting

if TYPE_CHECKING:
    import yaml
else:
    yaml = Deferred("yaml")

_HEAD = "yaml: unmarshal errors:\n"
_INDENT = "  "
_MERGE = "tag:yaml.org,2002:merge"
_STRING = "tag:yaml.org,2002:str"


def duplicates(root: "yaml.Node | None") -> str:
    """One message for all duplicate keys of a document; empty when it has none."""
    lines = list(_errors(root, set())) if root is not None else []
    return _HEAD + "\n".join(_INDENT + line for line in lines) if lines else ""


def warnings(strict_error: str) -> list[str]:
    """A strict decoding error as the texts of the warnings that it becomes: one a line, for those of YAML."""
    if not strict_error.startswith(_HEAD):
        return [strict_error]
    return [line.strip() for line in strict_error.removeprefix(_HEAD).splitlines()]


def _errors(node: "yaml.Node", walked: set[int]) -> Iterator[str]:
    if id(node) in walked:
        return
    walked.add(id(node))
    if isinstance(node, yaml.MappingNode):
        yield from _map_errors(node, set(), walked, (node,))
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _errors(item, walked)


def _map_errors(
    node: "yaml.MappingNode", seen: set[tuple[str, str]], walked: set[int], merging: "tuple[yaml.Node, ...]"
) -> Iterator[str]:
    """The errors of a map or of one merged into it; `merging` are the maps on the way, which may be a circle."""
    for key, value in node.value:
        if key.tag == _MERGE:
            for merged in _merged_maps(value):
                if all(merged is not one for one in merging):
                    yield from _map_errors(merged, seen, walked, (*merging, merged))
            continue
        yield from _errors(value, walked)
        if not isinstance(key, yaml.ScalarNode):
            continue
        identity = (key.tag, key.value)
        if identity in seen:
            yield f"line {value.start_mark.line + 1}: key {_text(key)} already set in map"
        seen.add(identity)


def _merged_maps(value: "yaml.Node") -> list[Any]:
    """The maps behind `<<`: earlier ones of a list win, so they are set last."""
    nodes = reversed(value.value) if isinstance(value, yaml.SequenceNode) else [value]
    return [node for node in nodes if isinstance(node, yaml.MappingNode)]


def _text(key: "yaml.ScalarNode") -> str:
    return quoting.quote(key.value) if key.tag == _STRING else str(key.value)
