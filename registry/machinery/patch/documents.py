"""What strict decoding has against the text of a patch: wrong types, repeated fields, fields that mean nothing.

Told in the words and the order of Go's decoder. Pure. Must hold: a text without repeated fields is not read again.
"""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema import strict
from aio_apiserver.registry.machinery.schema.decode import MAX_STRICT_ERRORS
from aio_apiserver.registry.machinery.schema.leaves import json_type

_OPERATION_FIELDS = frozenset({"op", "path", "from", "value"})
_TEXT_FIELDS = frozenset({"op", "path", "from"})
_GO_OPERATIONS = "[]handlers.jsonPatchOp"
_GO_OPERATION = "handlers.jsonPatchOp"
_GO_PATCH = "jsonpatch.Patch"
_GO_PATCH_OPERATION = "jsonpatch.Operation"


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all its keys."""


def object_mismatch(value: Any) -> str:
    """Why a value is no merge patch; empty when it is one, or null."""
    if value is None or isinstance(value, dict):
        return ""
    return f"json: cannot unmarshal {json_type(value)} into Go value of type map[string]interface {{}}"


def operations_mismatch(value: Any, *, is_strict: bool) -> str:
    """Why a value is no JSON Patch; empty when it is one, or null. Only a strict decoder looks into operations."""
    whole, element = (_GO_OPERATIONS, _GO_OPERATION) if is_strict else (_GO_PATCH, _GO_PATCH_OPERATION)
    if value is None:
        return ""
    if not isinstance(value, list):
        return f"json: cannot unmarshal {json_type(value)} into Go value of type {whole}"
    for operation in value:
        if operation is not None and not isinstance(operation, dict):
            return f"json: cannot unmarshal {json_type(operation)} into Go value of type {element}"
        if is_strict and (found := _operation_mismatch(operation or {})):
            return found
    return ""


def _operation_mismatch(operation: dict[str, Any]) -> str:
    for name, value in operation.items():
        if name in _TEXT_FIELDS and not isinstance(value, str | None):
            return f"json: cannot unmarshal {json_type(value)} into Go struct field jsonPatchOp.{name} of type string"
    return ""


def object_errors(text: bytes, value: Any) -> list[str]:
    """The strict errors of a merge patch, parsed from the text."""
    return _first(_repeated(_pairs(text), "")) if strict.may_have_duplicates(text, value) else []


def operations_errors(text: bytes, value: Any) -> list[str]:
    """The strict errors of a JSON Patch, parsed from the text."""
    is_plain = all(operation is None or operation.keys() <= _OPERATION_FIELDS for operation in value or ())
    if is_plain and not strict.may_have_duplicates(text, value):
        return []
    operations = enumerate(_pairs(text) or ())
    found = (error for index, operation in operations for error in _operation_errors(operation or [], f"[{index}]"))
    return [f"json patch {error}" for error in _first(found)]


def _operation_errors(operation: list[tuple[str, Any]], where: str) -> Iterator[str]:
    seen = set()
    for name, value in operation:
        if name not in _OPERATION_FIELDS:
            yield f"unknown field {quote(f'{where}.{name}')}"
            continue
        if name in seen:
            yield f"duplicate field {quote(f'{where}.{name}')}"
        seen.add(name)
        yield from _repeated(value, f"{where}.{name}")


def _repeated(value: Any, where: str) -> Iterator[str]:
    """The repeated fields of any JSON."""
    if isinstance(value, _Pairs):
        seen = set()
        for name, item in value:
            inside = f"{where}.{name}" if where else name
            if name in seen:
                yield f"duplicate field {quote(inside)}"
            seen.add(name)
            yield from _repeated(item, inside)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _repeated(item, f"{where}[{index}]")


def _pairs(text: bytes) -> Any:
    return json.loads(text, object_pairs_hook=_Pairs)


def _first(found: Iterator[str]) -> list[str]:
    return list(islice(dict.fromkeys(found), MAX_STRICT_ERRORS))
