"""Formats: the CEL library `format`: named string formats and the errors of a string."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind
from aio_apiserver.registry.machinery.cel.values import NONE, Opaque, Optional
from aio_apiserver.registry.machinery.schema.validation.formats import CHECKS
from aio_apiserver.registry.machinery.schema.validation.uris import is_request_uri

FORMAT = Type(TypeKind.OBJECT, "kubernetes.NamedFormat")

Complaints = Callable[[str], Sequence[str]]


class FormatValue(Struct, Opaque, frozen=True):
    """The CEL value of a named format. `regex_size` is the size of its pattern for the cost of a check."""

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


_FORMATS: Mapping[str, FormatValue] = {
    "dns1123Label": FormatValue("DNS1123Label", lambda text: names.is_dns_label(text, False), 30),
    "dns1123Subdomain": FormatValue("DNS1123Subdomain", lambda text: names.is_dns_subdomain(text, False), 60),
    "dns1035Label": FormatValue("DNS1035Label", lambda text: names.is_dns1035_label(text, False), 30),
    "qualifiedName": FormatValue("QualifiedName", names.check_qualified_name, 60),
    "dns1123LabelPrefix": FormatValue("DNS1123LabelPrefix", lambda text: names.is_dns_label(text, True), 30),
    "dns1123SubdomainPrefix": FormatValue(
        "DNS1123SubdomainPrefix", lambda text: names.is_dns_subdomain(text, True), 60
    ),
    "dns1035LabelPrefix": FormatValue("DNS1035LabelPrefix", lambda text: names.is_dns1035_label(text, True), 30),
    "labelValue": FormatValue("LabelValue", names.check_label_value, 40),
    "uri": FormatValue("URI", _uri, 1103),
    "uuid": FormatValue("uuid", _like("uuid", "does not match the UUID format"), 72),
    "byte": FormatValue("byte", _like("byte", "invalid base64"), 84),
    "date": FormatValue("date", _like("date", "invalid date"), 68),
    "datetime": FormatValue("datetime", _like("datetime", "invalid datetime"), 205),
}


def _named(name: str) -> Optional:
    return Optional(True, _FORMATS[name]) if name in _FORMATS else NONE


def _validate(given: FormatValue, text: str) -> Optional:
    complaints = list(given.complaints(text))
    return Optional(True, complaints) if complaints else NONE


def _giving(given: FormatValue) -> Callable[[], FormatValue]:
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
