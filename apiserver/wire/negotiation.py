"""Negotiation: chooses the media type of a response from the Accept header, and a Table or PartialObjectMetadata.

Pure. Results are cached by header text, because clients send few different ones.

Must hold: clauses are ordered as in kube-apiserver (a plain type may come before one with a higher q). A request
without an Accept header gets JSON.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from aio_apiserver.registry.base.text_caches import remember_short
from aio_apiserver.registry.machinery import media_types

META_GROUP = "meta.k8s.io"
TABLE = "Table"
PARTIAL = "PartialObjectMetadata"
PARTIAL_LIST = "PartialObjectMetadataList"


class ConversionTarget(NamedTuple):
    """The kind into which the object is converted: `as`, `g` and `v` of a clause."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"


class Format(NamedTuple):
    """The format of a response. `target` is None for the object itself."""

    media_type: str
    target: ConversionTarget | None = None
    is_pretty: bool = False


class Clause(NamedTuple):
    """One clause of an Accept header."""

    type: str
    subtype: str
    quality: float
    parameters: Mapping[str, str]

    def takes(self, media_type: str) -> bool:
        main, _, sub = media_type.partition("/")
        return (self.type, self.subtype) in {(main, sub), (main, "*"), ("*", "*")}


Allows = Callable[[str, ConversionTarget | None], bool]
"""Whether an endpoint supports a media type for its objects, or for a target."""


def allows_nothing_else(_media_type: str, target: ConversionTarget | None) -> bool:
    """For endpoints that return their objects unconverted."""
    return target is None


def allows_metadata_and_tables(media_type: str, target: ConversionTarget | None) -> bool:
    """For resources: PartialObjectMetadata(List) in every format, Table in JSON and YAML."""
    if target is None:
        return True
    if target.group != META_GROUP or target.version not in {"v1", "v1beta1"}:
        return False
    return target.kind in {PARTIAL, PARTIAL_LIST} or (
        target.kind == TABLE and media_type in {media_types.JSON, media_types.YAML}
    )


def allows_metadata(media_type: str, target: ConversionTarget | None) -> bool:
    """For resources without columns."""
    return (target is None or target.kind != TABLE) and allows_metadata_and_tables(media_type, target)


def _but_protobuf(allowed: Allows) -> Allows:
    """The same for objects without a protobuf message. The kind of a target may have one."""
    return lambda media_type, target: (
        allowed(media_type, target) and (target is not None or media_type != media_types.PROTOBUF)
    )


_ALLOWED: Mapping[tuple[bool, bool], Allows] = {
    (has_tables, has_messages): allowed if has_messages else _but_protobuf(allowed)
    for has_tables, allowed in ((True, allows_metadata_and_tables), (False, allows_metadata))
    for has_messages in (True, False)
}


def allows(*, has_tables: bool, has_messages: bool) -> Allows:
    """The supported formats of a resource, by whether it has tables and protobuf messages."""
    return _ALLOWED[has_tables, has_messages]


@remember_short(1024)
def negotiate(accept: str, written: Sequence[str], allows: Allows) -> Format | None:
    """The best format for an Accept header; None when no clause is supported."""
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
def negotiate_target(accept: str, written: Sequence[str], target: ConversionTarget) -> Format | None:
    """The best format for exactly this target, at any rank in the Accept header."""
    for clause in parse_accept(accept):
        for media_type in written:
            if clause.takes(media_type):
                chosen = _format(media_type, clause.parameters, lambda _type, wanted: wanted == target)
                if chosen is not None and chosen.target is not None:
                    return chosen
    return None


@remember_short(1024)
def is_served(accept: str, written: Sequence[str] = media_types.OF_OBJECTS) -> bool:
    """Whether the server supports any media type of an Accept header, whatever the parameters are."""
    if not accept:
        return True
    types = (part.partition(";")[0].strip() for part in accept.split(","))
    return any(name == "*/*" or name in written for name in types)


def _format(media_type: str, parameters: Mapping[str, str], allows: Allows) -> Format | None:
    target = None
    if parameters.keys() & {"as", "g", "v"}:
        target = ConversionTarget(parameters.get("g", ""), parameters.get("v", ""), parameters.get("as", ""))
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
    # This is not a total order: two clauses may each come before the other. Go sorts short lists by insertion, so we do
    # too.
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
    """The weight of a `q` parameter; 0 when it is not a number."""
    try:
        return float(text)
    except ValueError:
        return 0.0
