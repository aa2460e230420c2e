"""Field managers of custom and built-in kinds, with random schemas and objects."""

from typing import Any

import orjson
from hypothesis import strategies as st

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.patch.apply import fields
from aio_apiserver.registry.machinery.patch.apply.fields import Fields
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.patch.apply.resets import NO_RESETS, Resets
from aio_apiserver.registry.machinery.patch.apply.shapes import Shapes
from aio_apiserver.registry.machinery.patch.apply.type_converters import CustomTypeConverter, TypeConverter
from aio_apiserver.registry.machinery.view import View

TYPES = schema.builtin()
METADATA = Shapes().of(TYPES.node("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"))
THING = Kind(group="example.com", plural="things", kind="Thing")
NOW = "2026-01-01T00:00:00Z"
API_VERSION = "example.com/v1"


class Now:
    """The time for managedFields."""

    def __init__(self) -> None:
        self.text = NOW

    def __call__(self) -> str:
        return self.text


def form_of(spec: Any, version: str = "v1") -> CustomTypeConverter:
    """Custom objects with a schema for their spec."""
    own = CustomType(lambda: {"type": "object", "properties": {"spec": spec, "status": _FREE}}, TYPES)
    view = View(GroupVersionKind("example.com", version, "Thing"), own.canonical, fill=own.apply_defaults)
    return CustomTypeConverter(view, own, METADATA)


_FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def manager_of(
    spec: Any = None, *, now: Now | None = None, subresource: str = "", resets: Resets = NO_RESETS
) -> FieldManager:
    """The field manager of custom objects; without a schema the spec is arbitrary JSON."""
    form = form_of(spec or _FREE)
    return FieldManager(form, {API_VERSION: form}, now or Now(), subresource, resets)


def builtin_manager(group: str, version: str, kind: str) -> FieldManager:
    """The field manager of a built-in kind."""
    own = TYPES.type_for(group, version, kind)
    form = TypeConverter(
        View(GroupVersionKind(group, version, kind), own.canonical, fill=own.apply_defaults), lambda: own
    )
    return FieldManager(form, {form.api_version: form}, Now())


def thing(**spec: Any) -> dict[str, Any]:
    """An applied configuration."""
    return {"apiVersion": API_VERSION, "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}


def owners(obj: dict[str, Any]) -> dict[str, Any]:
    """The fields of the spec that each manager owns, as FieldsV1."""
    entries = obj["metadata"].get("managedFields", ())
    return {entry["manager"]: entry["fieldsV1"].get("f:spec", {}) for entry in entries}


def copied(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


def paths(found: Fields) -> set[tuple[str, ...]]:
    return set(fields.members(found))


NAMES = ("a", "b", "c")
_LEAVES = ({"type": "string"}, {"type": "integer"}, {"type": "boolean"})
_TEXT, _INTEGER = _LEAVES[:2]
_OF_LEAVES: dict[str, Any] = {
    "string": st.sampled_from(["", "x", "y<"]),
    "integer": st.integers(-1, 2),
    "boolean": st.booleans(),
}


def _object(members: Any, extra: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": members, **extra}


def _containers(inner: Any) -> Any:
    keyed = st.dictionaries(st.sampled_from(NAMES), inner, max_size=2).map(
        lambda members: {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["key", "port"],
            "items": _object({**members, "key": _TEXT, "port": {**_INTEGER, "default": 1}}, {}),
        }
    )
    return st.one_of(
        st.builds(
            _object,
            st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=3),
            st.sampled_from([{}, {"x-kubernetes-map-type": "atomic"}]),
        ),
        inner.map(lambda item: {"type": "object", "additionalProperties": item}),
        inner.map(lambda item: {"type": "array", "items": item}),
        st.sampled_from([_TEXT, _INTEGER]).map(
            lambda item: {"type": "array", "x-kubernetes-list-type": "set", "items": item}
        ),
        keyed,
        st.just(_FREE),
    )


schemas = st.dictionaries(
    st.sampled_from(NAMES), st.recursive(st.sampled_from(_LEAVES), _containers, max_leaves=5), min_size=1, max_size=3
).map(lambda members: _object(members, {}))
"""Schemas of specs."""


def values(of: Any) -> Any:
    """Values that fit a schema."""
    kind = of["type"]
    if kind in _OF_LEAVES:
        return _OF_LEAVES[kind]
    if kind == "array":
        return _lists(of)
    if "additionalProperties" in of:
        return st.dictionaries(st.sampled_from(NAMES), values(of["additionalProperties"]), max_size=2)
    if "properties" not in of:
        return st.dictionaries(st.sampled_from(NAMES), st.sampled_from([1, "x", {"a": 1}, {"b": [1]}]), max_size=2)
    members = {name: values(member) for name, member in of["properties"].items()}
    required = {"key": members.pop("key")} if "key" in of["properties"] else {}
    return st.fixed_dictionaries(required, optional=members)


def _lists(of: Any) -> Any:
    items = values(of["items"])
    match of.get("x-kubernetes-list-type"):
        case "map":
            return st.lists(items, max_size=3, unique_by=lambda one: (one["key"], one.get("port", 1)))
        case "set":
            return st.lists(items, max_size=3, unique=True)
    return st.lists(items, max_size=2)


@st.composite
def cases(draw: Any, count: int) -> tuple[Any, ...]:
    """A schema with some specs that fit it."""
    of = draw(schemas)
    return of, *(draw(values(of)) for _ in range(count))
