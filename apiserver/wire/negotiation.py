"""Negotiation: from an Accept header to the format of an answer.

Pure, and remembered by header text, because clients send few different ones. Must hold: clauses are weighed exactly as
kube-apiserver weighs them (a plain type may come before one with a higher q); no Accept header means JSON.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from aio_apiserver.registry.base.remembering import remember_short
from aio_apiserver.registry.machinery import media_types

META_GROUP = "meta.k8s.io"
TABLE = "Table"
PARTIAL = "PartialObjectMetadata"
PARTIAL_LIST = "PartialObjectMetadataList"


class Target(NamedTuple):
    """What the object is to be turned into: `as`, `g` and `v` of a clause."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"


class Format(NamedTuple):
    """How to answer. `target` is None for the object itself."""

    media_type: str
    target: Target | None = None
    is_pretty: bool = False


class Clause(NamedTuple):
    """One part of an Accept header."""

    type: str
    subtype: str
    quality: float
    parameters: Mapping[str, str]

    def takes(self, media_type: str) -> bool:
        main, _, sub = media_type.partition("/")
        return (self.type, self.subtype) in {(main, sub), (main, "*"), ("*", "*")}


Allows = Callable[[str, Target | None], bool]
"""Whether an endpoint can write its objects, or turn them into a target, in a media type."""


def allows_nothing_else(_media_type: str, target: Target | None) -> bool:
    """What endpoints offer that give their objects as they are."""
    return target is None


def allows_metadata_and_tables(media_type: str, target: Target | None) -> bool:
    """What resources offer: PartialObjectMetadata(List) in every format, Table in JSON and YAML."""
    if target is None:
        return True
    if target.group != META_GROUP or target.version not in {"v1", "v1beta1"}:
        return False
    return target.kind in {PARTIAL, PARTIAL_LIST} or (
        target.kind == TABLE and media_type in {media_types.JSON, media_types.YAML}
    )


def allows_metadata(media_type: str, target: Target | None) -> bool:
    """What resources without columns offer."""
    return (target is None or target.kind != TABLE) and allows_metadata_and_tables(media_type, target)


def _but_protobuf(allowed: Allows) -> Allows:
    """The same of objects that have no protobuf message; what they are turned into may have one."""
    return lambda media_type, target: (
        allowed(media_type, target) and (target is not None or media_type != media_types.PROTOBUF)
    )


_ALLOWED: Mapping[tuple[bool, bool], Allows] = {
    (has_tables, has_messages): allowed if has_messages else _but_protobuf(allowed)
    for has_tables, allowed in ((True, allows_metadata_and_tables), (False, allows_metadata))
    for has_messages in (True, False)
}


def allows(*, has_tables: bool, has_messages: bool) -> Allows:
    """What a resource offers whose objects can be shown as tables and written in protobuf, or not."""
    return _ALLOWED[has_tables, has_messages]


@remember_short(1024)
def negotiate(accept: str, written: Sequence[str], allows: Allows) -> Format | None:
    """The best format for an Accept header; None when none will do."""
    if not accept:
        return Format(written[0])
    for clause in parse_accept(accept):
        for media_type in written:
            if clause.takes(media_type):
                chosen = _format(media_type, clause.parameters, allows)
                if chosen is not None:
                    return chosen
    return None


@remember_short(1024)
def negotiate_target(accept: str, written: Sequence[str], target: Target) -> Format | None:
    """The best format in which a client takes just this target, whatever else it would rather have."""
    for clause in parse_accept(accept):
        for media_type in written:
            if clause.takes(media_type):
                chosen = _format(media_type, clause.parameters, lambda _type, wanted: wanted == target)
                if chosen is not None and chosen.target is not None:
                    return chosen
    return None


@remember_short(1024)
def is_served(accept: str, written: Sequence[str] = media_types.OF_OBJECTS) -> bool:
    """Whether any type in an Accept header is one that a path can answer with at all, whatever its parameters."""
    if not accept:
        return True
    types = (part.partition(";")[0].strip() for part in accept.split(","))
    return any(name == "*/*" or name in written for name in types)


def _format(media_type: str, parameters: Mapping[str, str], allows: Allows) -> Format | None:
    target = None
    if parameters.keys() & {"as", "g", "v"}:
        target = Target(parameters.get("g", ""), parameters.get("v", ""), parameters.get("as", ""))
    if not allows(media_type, target):
        return None
    if parameters.get("stream", "watch") != "watch":
        return None
    return Format(media_type, target, parameters.get("pretty") == "1")


def parse_accept(header: str) -> list[Clause]:
    """The clauses, best first."""
    clauses = [clause for part in header.split(",") if (clause := _clause(part)) is not None]
    for end in range(1, len(clauses)):
        at = end
        while at and _is_before(clauses[at], clauses[at - 1]):
            clauses[at], clauses[at - 1] = clauses[at - 1], clauses[at]
            at -= 1
    return clauses


def _is_before(one: Clause, other: Clause) -> bool:
    # No total order: two clauses may each stand before the other. Go sorts short lists by insertion, and so must we.
    if one.quality > other.quality:
        return True
    if one.type != "*" and other.type == "*":
        return True
    return one.subtype != "*" and other.subtype == "*"


def _clause(part: str) -> Clause | None:
    name, *rest = part.strip(" ").split(";")
    main, slash, sub = name.partition("/")
    main, sub = main.strip(" "), sub.strip(" ")
    if not slash or not sub:
        if main != "*":
            return None
        sub = "*"
    if "/" in sub:
        return None
    parameters = {}
    for pair in rest:
        key, _, value = pair.partition("=")
        if value and "=" not in value:
            parameters[key.strip(" ")] = value.strip(" ")
    return Clause(main, sub, quality(parameters.pop("q", "1")), parameters)


def quality(text: str) -> float:
    """The weight that a `q` gives; what is no number weighs nothing."""
    try:
        return float(text)
    except ValueError:
        return 0.0
