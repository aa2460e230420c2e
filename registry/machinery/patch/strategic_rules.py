"""Strategic rules: the patch strategy and merge key of a member, from the schema.

Pure. Must hold: a member that the schema does not have raises an error with Go's words, because the patch takes the
value for another type.
"""

from msgspec import Struct

from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema.model import SchemaField, SchemaKind, SchemaNode

_GO_KINDS = {
    SchemaKind.MAP: "map",
    SchemaKind.LIST: "slice",
    SchemaKind.BYTES: "slice",
    SchemaKind.STRING: "string",
    SchemaKind.BOOLEAN: "bool",
}
_RETAIN_KEYS = "retainKeys"


class PatchRule(Struct, frozen=True):
    """The merge of one member. `node`: the type of the object, or of the list's elements."""

    node: SchemaNode
    strategy: str
    merge_key: str

    @property
    def is_merged(self) -> bool:
        return self.strategy == "merge"

    @property
    def is_replaced(self) -> bool:
        return self.strategy == "replace"


def of_object(owner: SchemaNode, name: str) -> PatchRule:
    """The rule of an object member. Raises StatusError."""
    member = _member(owner, name)
    return _rule(member.node, member)


def of_list(owner: SchemaNode, name: str) -> PatchRule:
    """The rule of a list member. Raises StatusError."""
    member = _member(owner, name)
    if member.node.items is not None and member.node.kind is SchemaKind.LIST:
        return _rule(member.node.items, member)
    if not member.is_pointer:
        raise StatusError("expected slice or array type, but got: struct")
    return _rule(member.node, member)


def _member(owner: SchemaNode, name: str) -> SchemaField:
    if owner.kind in _GO_KINDS:
        found = _GO_KINDS[owner.kind]
        raise StatusError(f"merging an object in json but data type is not struct, instead is: {found}")
    member = owner.structure.fields.get(name) if owner.structure else None
    if member is None:
        struct = owner.structure.name if owner.structure else owner.go_type
        why = f"unable to find api field in struct {struct.rpartition('.')[2]} for the json field {quote(name)}"
        raise StatusError(why)
    return member


def _rule(node: SchemaNode, member: SchemaField) -> PatchRule:
    merge = member.node.merge
    strategy = next((one for one in merge.patch_strategies if one != _RETAIN_KEYS), "")
    return PatchRule(node, strategy, merge.patch_merge_key)
