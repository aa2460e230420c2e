"""URLs: reading them, and their parts."""

from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from msgspec import Struct

from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.types import Kind, Type
from aio_apiserver.registry.machinery.cel.values import EvaluationError, Opaque
from aio_apiserver.registry.machinery.schema.validation.uris import is_request_uri

URL = Type(Kind.OBJECT, "kubernetes.URL")


class Url(Struct, Opaque, frozen=True):
    """An absolute URI, or an absolute path."""

    parts: SplitResult
    type_name = URL.name

    @property
    def size(self) -> int:
        return len(self.parts.geturl())


def _parse(text: str) -> Url:
    if not is_request_uri(text):
        why = f'parse "{text}": invalid URI for request'
        raise EvaluationError(f"URL parse error during conversion from string: {why}")
    return Url(urlsplit(text))


def _host(url: Url) -> str:
    return url.parts.netloc.rpartition("@")[2]


def _hostname(url: Url) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _port(url: Url) -> str:
    return _host(url).rpartition("]")[2].partition(":")[2]


def _query(url: Url) -> dict[str, list[str]]:
    return parse_qs(url.parts.query, keep_blank_values=True)


def _escaped_path(url: Url) -> str:
    return quote(unquote(url.parts.path), safe="/:@!$&'()*+,;=-._~") if "%" not in url.parts.path else url.parts.path


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
        "url_get_scheme": lambda url: url.parts.scheme,
        "url_get_host": _host,
        "url_get_hostname": _hostname,
        "url_get_port": _port,
        "url_get_escaped_path": _escaped_path,
        "url_get_query": _query,
    },
)
