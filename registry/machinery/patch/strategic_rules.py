"""How a type wants its members merged: strategies and merge keys, found in the schema by the name of a member.

Pure. Must hold: what the schema does not know is an error with Go's words, because it means that the patch takes a
value for what it is not.
"""

from msgspec import Struct

from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema.model import Field, Kind, Node

_GO_KINDS = {Kind.MAP: "map", Kind.LIST: "slice", Kind.BYTES: "slice", Kind.STRING: "string", Kind.BOOLEAN: "bool"}
_RETAIN_KEYS = "retainKeys"


class Rule(Struct, frozen=True):
    """How one member is merged. `node` is the type of the object, or that of the list's elements."""

    node: Node
    strategy: str
    merge_key: str

    @property
    def is_merged(self) -> bool:
        return self.strategy == "merge"

    @property
    def is_replaced(self) -> bool:
        return self.strategy == "replace"


def of_object(owner: Node, name: str) -> Rule:
    """The rule of a member that is an object. Raises StatusError."""
    member = _member(owner, name)
    return _rule(member.node, member)


def of_list(owner: Node, name: str) -> Rule:
    """The rule of a member that is a list. Raises StatusError."""
    member = _member(owner, name)
    if member.node.items is not None and member.node.kind is Kind.LIST:
        return _rule(member.node.items, member)
    if not member.is_pointer:
        raise StatusError("expected slice or array type, but got: struct")
    return _rule(member.node, member)


def _member(owner: Node, name: str) -> Field:
    if owner.kind in _GO_KINDS:
        found = _GO_KINDS[owner.kind]
        raise StatusError(f"merging an object in json but data type is not struct, instead is: {found}")
    member = owner.structure.fields.get(name) if owner.structure else None
    if member is None:
        struct = owner.structure.name if owner.structure else owner.go_type
        why = f"unable to find api field in struct {struct.rpartition('.')[2]} for the json field {quote(name)}"
        raise StatusError(why)
    return member


def _rule(node: Node, member: Field) -> Rule:
    merge = member.node.merge
    strategy = next((one for one in merge.patch_strategies if one != _RETAIN_KEYS), "")
    return Rule(node, strategy, merge.patch_merge_key)
