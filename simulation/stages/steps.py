"""Steps: what a Stage does to an object: events, finalizers, deletion and patches, in the order of kwok.

Pure. `next` and `steps` of a Stage become the same steps. Must hold: an object that is deleted is not patched any more.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.simulation.stages import templates
from aio_apiserver.simulation.stages.template_functions import Function
from aio_apiserver.simulation.stages.template_values import TemplateFailure
from aio_apiserver.simulation.stages.templates import Template
from aio_apiserver.simulation.stages.unsupported import Unsupported

_JSON = "json"
_TYPES = {
    _JSON: media_types.JSON_PATCH,
    "merge": media_types.MERGE_PATCH,
    "strategic": media_types.STRATEGIC_MERGE_PATCH,
}
_APPLY = "apply"
_APPLY_TYPES = {_APPLY: media_types.MERGE_PATCH, "merge": _TYPES["merge"], "strategic": _TYPES["strategic"]}
_STRATEGIC_BY_DEFAULT = ("Pod", "Node")
_KNOWN = {
    "next": ("event", "finalizers", "delete", "patches", "statusTemplate", "statusSubresource", "statusPatchAs"),
    "step": ("event", "finalizers", "delete", "patch", "apply"),
    "apply": ("subresource", "template", "type", "impersonation"),
    "patch": ("subresource", "root", "template", "type", "impersonation"),
}


class Tell(Struct, frozen=True):
    """Record an event about the object."""

    type: str
    reason: str
    message: str


class Finalizers(Struct, frozen=True):
    """Add and remove finalizers; `is_empty`: remove all first."""

    add: tuple[str, ...]
    remove: tuple[str, ...]
    is_empty: bool

    def after(self, present: list[str]) -> list[str]:
        """The finalizers of an object that has those now."""
        kept = [] if self.is_empty else [one for one in present if one not in self.remove]
        return kept + [one for one in self.add if one not in kept]


class Remove(Struct, frozen=True):
    """Delete the object."""


class Rendered(Struct, frozen=True):
    """Patch the object, or a subresource of it, with a template's text."""

    subresource: str
    root: str
    media_type: str
    template: Template

    def text(self, obj: Object, given: Mapping[str, Function]) -> bytes:
        """The JSON of the patch for an object. Raises TemplateFailure."""
        value = _value(self.template, obj, given)
        try:
            return orjson.dumps(self._under_root(value))
        except (TypeError, AttributeError) as exc:
            raise TemplateFailure(f"the template makes no patch: {exc}") from None

    def _under_root(self, value: Any) -> Any:
        if not self.root:
            return value
        if self.media_type == media_types.JSON_PATCH:
            return [{**one, "path": f"/{self.root}{one.get('path', '')}"} for one in value or ()]
        return {self.root: value or {}}


class AppliedObject(Struct, frozen=True):
    """Create another object from a template's text, or merge the text into it or its subresource."""

    subresource: str
    media_type: str
    template: Template

    def object_for(self, obj: Object, given: Mapping[str, Function]) -> Object:
        """The other object. Raises TemplateFailure."""
        value = _value(self.template, obj, given)
        metadata = value.get("metadata") if isinstance(value, dict) else None
        named = (value.get("apiVersion"), value.get("kind"), metadata.get("name")) if isinstance(metadata, dict) else ()
        if not named or not all(isinstance(one, str) for one in named):
            raise TemplateFailure("the template makes no object")
        found: Object = value
        return found


def _value(template: Template, obj: Object, given: Mapping[str, Function]) -> Any:
    """The value of a template's YAML. Raises TemplateFailure."""
    try:
        return yaml.read(template(obj, given).encode()).value
    except ValueError as exc:
        raise TemplateFailure(f"the template makes no YAML: {exc}") from None


Step = Tell | Finalizers | Remove | Rendered | AppliedObject


def parse(spec: Object) -> tuple[Step, ...]:
    """The steps of a Stage. Raises Unsupported."""
    kind = spec["resourceRef"]["kind"]
    found = list(_of_next(spec.get("next") or {}, kind))
    for one in spec.get("steps") or ():
        _check(one, "step")
        found.extend(_of_step(one, kind))
    ends = next((number for number, one in enumerate(found) if isinstance(one, Remove)), len(found))
    return tuple(one for number, one in enumerate(found) if number <= ends or isinstance(one, Tell))


def ignored(spec: Object) -> bool:
    """Whether a Stage wants to write as another user, which the simulation does not do."""
    given = spec.get("next") or {}
    steps = spec.get("steps") or ()
    patches = [*(given.get("patches") or ()), *(one.get(name) or {} for one in steps for name in ("patch", "apply"))]
    return "statusPatchAs" in given or any("impersonation" in one for one in patches)


def _of_next(given: Object, kind: str) -> Iterator[Step]:
    _check(given, "next")
    yield from _of_step(given, kind)
    if given.get("statusTemplate"):
        status = {"subresource": given.get("statusSubresource", "status"), "root": "status"}
        yield _patch({**status, "template": given["statusTemplate"]}, kind)
    for one in given.get("patches") or ():
        yield _patch(one, kind)


def _of_step(given: Object, kind: str) -> Iterator[Step]:
    if event := given.get("event"):
        yield Tell(event.get("type", "Normal"), event.get("reason", ""), event.get("message", ""))
    if finalizers := given.get("finalizers"):
        add, remove = (tuple(one["value"] for one in finalizers.get(name) or ()) for name in ("add", "remove"))
        yield Finalizers(add, remove, bool(finalizers.get("empty")))
    if given.get("delete"):
        yield Remove()
    if given.get("patch"):
        yield _patch(given["patch"], kind)
    if given.get("apply"):
        yield _apply(given["apply"])


def _apply(given: Object) -> AppliedObject:
    _check(given, "apply")
    name = given.get("type") or _APPLY
    if name not in _APPLY_TYPES:
        raise Unsupported(f"the type {name!r} of an apply")
    return AppliedObject(given.get("subresource", ""), _APPLY_TYPES[name], templates.parse(given.get("template", "")))


def _patch(given: Object, kind: str) -> Rendered:
    _check(given, "patch")
    name = given.get("type") or ("strategic" if kind in _STRATEGIC_BY_DEFAULT else "merge")
    if name not in _TYPES:
        raise Unsupported(f"the patch type {name!r}")
    template = templates.parse(given.get("template", ""))
    return Rendered(given.get("subresource", ""), given.get("root", ""), _TYPES[name], template)


def _check(given: Object, part: str) -> None:
    """Raises Unsupported for a member that this server does not know."""
    for name in given.keys() - set(_KNOWN[part]):
        raise Unsupported(f"{name} in a {part}")
