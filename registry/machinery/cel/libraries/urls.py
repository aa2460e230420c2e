"""URLs: the CEL library `url`."""

import re
from urllib.parse import parse_qs, quote, unquote

from msgspec import Struct

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind
from aio_apiserver.registry.machinery.cel.values import Budgeted, EvaluationError, Opaque
from aio_apiserver.registry.machinery.schema.validation.uris import is_request_uri

_BYTES_OF_A_PARAMETER, _STEPS_OF_A_PARAMETER = 250, 3
_MOST_OF_A_CHARACTER = 12
"""Characters in an escape of one."""
URL = Type(TypeKind.OBJECT, "kubernetes.URL")


_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)


class UrlValue(Struct, Opaque, frozen=True):
    """The CEL value of an absolute URI or an absolute path."""

    text: str
    scheme: str
    authority: str
    path: str
    query: str
    type_name = URL.name

    @property
    def size(self) -> int:
        return len(self.text)


def _parse(text: str) -> UrlValue:
    if not is_request_uri(text):
        why = f'parse "{text}": invalid URI for request'
        raise EvaluationError(f"URL parse error during conversion from string: {why}")
    match = _PARTS.fullmatch(text)
    assert match is not None
    scheme, *others = (part or "" for part in match.groups())
    return UrlValue(text, scheme.lower(), *others)


def _host(url: UrlValue) -> str:
    return url.authority.rpartition("@")[2]


def _hostname(url: UrlValue) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _port(url: UrlValue) -> str:
    return _host(url).rpartition("]")[2].partition(":")[2]


def _query(budget: Budget, url: UrlValue) -> dict[str, list[str]]:
    budget.make(_BYTES_OF_A_PARAMETER * (url.query.count("&") + 1) + len(url.query))
    budget.spend(_STEPS_OF_A_PARAMETER * (url.query.count("&") + 1))
    return parse_qs(url.query, keep_blank_values=True)


def _escaped_path(budget: Budget, url: UrlValue) -> str:
    budget.make(_MOST_OF_A_CHARACTER * len(url.path))
    return quote(unquote(url.path), safe="/:@!$&'()*+,;=-._~") if "%" not in url.path else url.path


LIBRARY = Library(
    functions(
        {
            "url": [("string_to_url", "(string) -> URL")],
            "isURL": [("is_url_string", "(string) -> bool")],
            "getScheme": [("url_get_scheme", "URL.() -> string")],
            "getHost": [("url_get_host", "URL.() -> string")],
            "getHostname": [("url_get_hostname", "URL.() -> string")],
            "getPort": [("url_get_port", "URL.() -> string")],
            "getEscapedPath": [("url_get_escaped_path", "URL.() -> string")],
            "getQuery": [("url_get_query", "URL.() -> map(string, list(string))")],
        },
        {"URL": URL},
    ),
    {
        "string_to_url": _parse,
        "is_url_string": is_request_uri,
        "url_get_scheme": lambda url: url.scheme,
        "url_get_host": _host,
        "url_get_hostname": _hostname,
        "url_get_port": _port,
        "url_get_escaped_path": Budgeted(_escaped_path),
        "url_get_query": Budgeted(_query),
    },
)
