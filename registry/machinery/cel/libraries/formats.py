"""Formats: named kinds of strings, and what is wrong with a string that should be of one."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.types import Kind, Type
from aio_apiserver.registry.machinery.cel.values import NONE, Opaque, Optional
from aio_apiserver.registry.machinery.schema.validation.formats import CHECKS
from aio_apiserver.registry.machinery.schema.validation.uris import is_request_uri

FORMAT = Type(Kind.OBJECT, "kubernetes.NamedFormat")

Complaints = Callable[[str], Sequence[str]]


class Format(Struct, Opaque, frozen=True):
    """A format. `regex_size` is what a check of it costs."""

    name: str
    complaints: Complaints
    regex_size: int
    type_name = FORMAT.name

    @property
    def size(self) -> int:
        return len(self.name)


def _like(name: str, message: str) -> Complaints:
    check = CHECKS[name]
    return lambda text: [] if check(text) else [message]


def _uri(text: str) -> Sequence[str]:
    return [] if is_request_uri(text) else [f'parse "{text}": invalid URI for request']


_FORMATS: Mapping[str, Format] = {
    "dns1123Label": Format("DNS1123Label", lambda text: names.is_dns_label(text, False), 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", lambda text: names.is_dns_subdomain(text, False), 60),
    "dns1035Label": Format("DNS1035Label", lambda text: names.is_dns1035_label(text, False), 30),
    "qualifiedName": Format("QualifiedName", names.check_qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", lambda text: names.is_dns_label(text, True), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", lambda text: names.is_dns_subdomain(text, True), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", lambda text: names.is_dns1035_label(text, True), 30),
    "labelValue": Format("LabelValue", names.check_label_value, 40),
    "uri": Format("URI", _uri, 1103),
    "uuid": Format("uuid", _like("uuid", "does not match the UUID format"), 72),
    "byte": Format("byte", _like("byte", "invalid base64"), 84),
    "date": Format("date", _like("date", "invalid date"), 68),
    "datetime": Format("datetime", _like("datetime", "invalid datetime"), 205),
}


def _named(name: str) -> Optional:
    return Optional(True, _FORMATS[name]) if name in _FORMATS else NONE


def _validate(given: Format, text: str) -> Optional:
    complaints = list(given.complaints(text))
    return Optional(True, complaints) if complaints else NONE


def _giving(given: Format) -> Callable[[], Format]:
    return lambda: given


LIBRARY = Library(
    functions(
        {
            "validate": [("format-validate", "Format.(string) -> optional(list(string))")],
            "format.named": [("format-named", "(string) -> optional(Format)")],
            **{f"format.{name}": [(f"format.{name}", "() -> Format")] for name in _FORMATS},
        },
        {"Format": FORMAT},
    ),
    {
        "format-validate": _validate,
        "format-named": _named,
        **{f"format.{name}": _giving(one) for name, one in _FORMATS.items()},
    },
)
