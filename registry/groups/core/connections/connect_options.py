"""Connect options: PodLogOptions, PodExecOptions and the like, read from the query of a request. Pure.

Other parameters of the query are ignored. Must hold: a value that cannot be read is a BadRequest with the message of
Go's conversion. A boolean is true unless its value is "false" or "0".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import Query
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.machinery.schema import times

_INT64 = range(-(2**63), 2**63)
_PORTS = range(2**16)
_FALSE = frozenset({"0", "false"})


def _text(values: Sequence[str]) -> str:
    return values[0]


def _texts(values: Sequence[str]) -> list[str]:
    return list(values)


def _flag(values: Sequence[str]) -> bool:
    return values[0].lower() not in _FALSE


def _number(values: Sequence[str]) -> int:
    return _parsed("ParseInt", values[0], _INT64)


def _parsed(function: str, text: str, numbers: range) -> int:
    digits = text[1:] if text[:1] in {"+", "-"} and function == "ParseInt" else text
    if not digits.isascii() or not digits.isdigit():
        raise BadRequest(f"strconv.{function}: parsing {quote(text)}: invalid syntax")
    if len(digits) > 20 or int(text) not in numbers:
        raise BadRequest(f"strconv.{function}: parsing {quote(text)}: value out of range")
    return int(text)


def _time(values: Sequence[str]) -> str | None:
    if values[0] in {"", "null"}:
        return None
    try:
        return times.time(values[0])
    except DecodeError as exc:
        raise BadRequest(exc.message) from exc


def _ports(values: Sequence[str]) -> list[int]:
    try:
        return [_parsed("ParseUint", port, _PORTS) for value in values for port in value.split(",")]
    except BadRequest as exc:
        raise BadRequest(f"cannot convert to []int32: {exc.message}") from exc


_STREAMS = {"stdin": _flag, "stdout": _flag, "stderr": _flag, "tty": _flag, "container": _text}

_OPTIONS: Mapping[str, Mapping[str, Callable[[Sequence[str]], Any]]] = {
    "PodLogOptions": {
        "container": _text,
        "follow": _flag,
        "previous": _flag,
        "sinceSeconds": _number,
        "sinceTime": _time,
        "timestamps": _flag,
        "tailLines": _number,
        "limitBytes": _number,
        "insecureSkipTLSVerifyBackend": _flag,
        "stream": _text,
    },
    "PodExecOptions": {**_STREAMS, "command": _texts},
    "PodAttachOptions": _STREAMS,
    "PodPortForwardOptions": {"ports": _ports},
}
"""For each kind of options: the fields, and the function that reads each of them."""


def read(kind: str, query: Query) -> Object:
    """Read the options of this kind. Raises BadRequest."""
    return {name: parse(query[name]) for name, parse in _OPTIONS[kind].items() if query.get(name)}


def validate_log(options: Object) -> list[FieldError]:
    """The field errors of PodLogOptions."""
    errors = []
    if options.get("tailLines", 0) < 0:
        errors.append(field.invalid("tailLines", options["tailLines"], "must be greater than or equal to 0"))
    if options.get("limitBytes", 1) < 1:
        errors.append(field.invalid("limitBytes", options["limitBytes"], "must be greater than 0"))
    if "sinceSeconds" in options and "sinceTime" in options:
        errors.append(field.forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif options.get("sinceSeconds", 1) < 1:
        errors.append(field.invalid("sinceSeconds", options["sinceSeconds"], "must be greater than 0"))
    if "stream" in options:
        errors.append(field.forbidden("stream", "may not be specified"))
    return errors
