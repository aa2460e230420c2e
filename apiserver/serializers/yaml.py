"""YAML: objects as kube-apiserver writes them, with sorted keys, and bodies of clients as JSON text.

Must hold: whatever text comes, the answer is JSON or a ValueError: depth and aliases are limited before anything is
built (the composer in C overflows its stack), and what JSON cannot say (dates, binary) stays text.
"""

from typing import Any

import orjson
import yaml

MAX_DEPTH = 200
MAX_ALIASES = 1000

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN_TEXT = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:binary")


class _Loader(_LOADER):  # type: ignore[misc] # chosen at run time: libyaml may be missing
    """Scalars as YAML 1.1 has them, but for those that JSON does not know."""


for _tag in _PLAIN_TEXT:
    _Loader.add_constructor(_tag, lambda loader, node: loader.construct_scalar(node))


def dump(value: Any) -> bytes:
    """The document of an object."""
    text: str = yaml.dump(value, Dumper=_DUMPER, default_flow_style=False, allow_unicode=True, width=2**20)
    return text.encode()


def to_json(text: bytes) -> bytes:
    """The first document of a text as JSON. Raises ValueError."""
    try:
        _check_size(text)
        return orjson.dumps(_with_text_keys(yaml.load(text, Loader=_Loader)))  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as exc:
        raise ValueError(f"error converting YAML to JSON: {_words(exc)}") from exc
    except (TypeError, RecursionError, UnicodeError) as exc:
        raise ValueError(f"error converting YAML to JSON: {exc}") from exc


def _check_size(text: bytes) -> None:
    depth = aliases = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError("error converting YAML to JSON: yaml: exceeded max depth")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
            if aliases > MAX_ALIASES:
                raise ValueError("error converting YAML to JSON: yaml: document contains excessive aliasing")


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key(key): _with_text_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_text_keys(item) for item in value]
    return value


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int | float):
        return str(key)
    raise ValueError(f"error converting YAML to JSON: unsupported map key of type {type(key).__name__}")


def _words(exc: yaml.YAMLError) -> str:
    if isinstance(exc, yaml.MarkedYAMLError) and exc.problem_mark is not None:
        return f"yaml: line {exc.problem_mark.line + 1}: {exc.problem}"
    return f"yaml: {exc}"
