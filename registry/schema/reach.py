"""What can be reached from a node through the members, elements and values of its type.

Must hold: it ends, although types contain themselves.
"""

from collections.abc import Iterator

from registry.schema.model import Node, Structure


def below(nodes: Iterator[Node]) -> Iterator[Node]:
    """The nodes and all that is within them, each structure once."""
    visited: set[Structure] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.alternatives
        if node.items is not None:
            waiting.append(node.items)
        if node.structure is not None and node.structure not in visited:
            visited.add(node.structure)
            waiting += _members(node.structure)


def contains_itself(structure: Structure) -> bool:
    """Whether an object may be somewhere within an object of the same structure."""
    return any(node.structure is structure for node in below(_members(structure)))


def _members(structure: Structure) -> Iterator[Node]:
    return (field.node for field in structure.fields.values())
