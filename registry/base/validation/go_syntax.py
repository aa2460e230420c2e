"""go_syntax: the bad value of a field error as kube-apiserver printed it before 1.34: in Go's syntax instead of JSON.

Lists and maps of texts, label selectors, times and null have their form here. Values of other Go types keep their JSON.
Pure.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError, GoText, TypedText

_NO_LABELS = GoText("map[string]string(nil)")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z")
_SELECTOR = {"matchLabels", "matchExpressions"}


def in_go_syntax(error: FieldError) -> Sequence[FieldError]:
    """The error with its value in Go's syntax."""
    if not error.shows_value:
        return (error,)
    return (replace(error, value=_value(error)),)


def _value(error: FieldError) -> Any:
    path, value = error.path, error.value
    if isinstance(value, TypedText) or (isinstance(value, str) and error.type is ErrorType.NOT_SUPPORTED):
        return GoText(quote(value))
    if value is None:
        return _NO_LABELS if path.endswith(".metadata.labels") else "null"
    if path == "metadata.resourceVersion" and value == 0:
        return GoText("0x0")
    if path.endswith("Timestamp") and isinstance(value, str):
        return _time(value)
    return _composite(value)


def _time(text: str) -> str:
    match = _TIME.fullmatch(text)
    return GoText(f"{match[1]} {match[2]} +0000 UTC") if match else text


def _composite(value: Any) -> Any:
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return GoText(_texts(value))
    if not isinstance(value, Mapping):
        return value
    if value and value.keys() <= _SELECTOR:
        return GoText(_selector(value))
    return GoText(_labels(value)) if all(isinstance(one, str) for one in value.values()) else value


def _texts(values: Sequence[str] | None) -> str:
    return "[]string(nil)" if values is None else f"[]string{{{', '.join(map(quote, values))}}}"


def _labels(labels: Mapping[str, str] | None) -> str:
    if labels is None:
        return _NO_LABELS
    return f"map[string]string{{{', '.join(f'{quote(name)}:{quote(labels[name])}' for name in sorted(labels))}}}"


def _selector(selector: Mapping[str, Any]) -> str:
    expressions = _list("v1.LabelSelectorRequirement", selector.get("matchExpressions"), _requirement)
    return f"v1.LabelSelector{{MatchLabels:{_labels(selector.get('matchLabels'))}, MatchExpressions:{expressions}}}"


def _requirement(one: Mapping[str, Any]) -> str:
    key, operator = quote(one.get("key", "")), quote(one.get("operator", ""))
    return f"v1.LabelSelectorRequirement{{Key:{key}, Operator:{operator}, Values:{_texts(one.get('values'))}}}"


def _list(name: str, values: Sequence[Any] | None, text_of: Callable[[Any], str]) -> str:
    return f"[]{name}(nil)" if values is None else f"[]{name}{{{', '.join(map(text_of, values))}}}"
