"""YAML: encodes objects in YAML as kube-apiserver does, and decodes clients' bodies to JSON values.

Both ways follow the YAML 1.1 of Go's library. It differs from PyYAML in the meaning of scalars (`y` is true, `1:30` is
text) and in quoting. Must hold: for any text, the outcome is a JSON value or a ValueError. Depth and the sum of all
aliases are limited before any value is built (yaml_limits.py). Dates stay text.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cmp_to_key, partial
from typing import Any

import yaml
from msgspec import Struct

from aio_apiserver.base import worker_thread
from aio_apiserver.registry.base.golang import text as gotext
from aio_apiserver.registry.machinery.schema import yaml_keys
from aio_apiserver.registry.machinery.schema.ordering import as_printed
from aio_apiserver.registry.machinery.serializers import yaml_json, yaml_limits, yaml_scalars

_DUMPER = yaml.CSafeDumper
_LOADER: Any = yaml.CSafeLoader
"""The loader of libyaml: Python's takes ten times as long."""
_TIMES_JSON = 4
"""YAML takes at least so many times as long as JSON of the same size."""
_INTEGERS = range(-(2**63), 2**64)
"""Integers that JSON decoders keep as integers."""
_UNQUOTED = (True, True)
"""No scalar is written with its tag: quotes distinguish texts from other values."""


class YamlDocument(Struct, frozen=True):
    """A body as a JSON value with sorted keys, with its strict decoding errors.

    exact: the same value with large integers in place of the floats that JSON decoders make of them.
    """

    value: Any
    exact: Any
    strict_errors: tuple[str, ...] = ()

    @property
    def json(self) -> bytes:
        """The JSON text, for decoders that need numbers as they are written."""
        return json.dumps(self.exact, ensure_ascii=False, separators=(",", ":")).encode()


class _Loader(_LOADER):  # type: ignore[misc] # PyYAML has no types for it
    """Scalars by Go's rules, for values that JSON has."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode and implicit[0]:
            return yaml_scalars.tag_of(value)
        return super().resolve(kind, value, implicit)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        """A map as in JSON: keys become text one by one, so that `1` and `true` stay two keys."""
        self.flatten_mapping(node)
        mapping = {}
        for key, value in node.value:
            item = self.construct_object(value, deep=deep)
            mapping[_key(self.construct_object(key, deep=True), item)] = item
        return mapping


def _as_it_stands(loader: Any, node: yaml.Node) -> Any:
    """A value with a tag that Go's library ignores."""
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else node.value


def _scalar_by(read: Callable[[str], Any]) -> Callable[[Any, yaml.Node], Any]:
    def construct(loader: Any, node: yaml.Node) -> Any:
        return read(node.value) if isinstance(node, yaml.ScalarNode) else _as_it_stands(loader, node)

    return construct


for _tag in yaml_scalars.IGNORED_TAGS:
    _Loader.add_constructor(_tag, _as_it_stands)
for _tag, _reader in yaml_scalars.READERS.items():
    _Loader.add_constructor(_tag, _scalar_by(_reader))


def dump(value: Any) -> bytes:
    """The YAML document of an object."""
    text: str = yaml.emit(_document(value), Dumper=_DUMPER, allow_unicode=True)
    return text.encode()


def read(text: bytes) -> YamlDocument:
    """The first document of a text. Raises ValueError."""
    with _in_words_of_go(text):
        as_json = yaml_json.read(text)
        if as_json is not None:
            return YamlDocument(as_json, as_json)
        _check(text)
        return composed(text)


async def read_in_turn(text: bytes, user: str) -> YamlDocument:
    """The same, in several pieces of the worker thread if the text is long. Raises ValueError."""
    run = worker_thread.runner(len(text) * _TIMES_JSON, user)
    with _in_words_of_go(text):
        as_json = await run(partial(yaml_json.read, text))
        if as_json is not None:
            return YamlDocument(as_json, as_json)
        await run(partial(_check, text))
        loader = _Loader(text)
        root = await run(partial(_root, loader))
        return await run(partial(_document_of, loader, root))


@contextmanager
def _in_words_of_go(text: bytes) -> Iterator[None]:
    """Translate errors to those of Go's library. Raises ValueError."""
    try:
        yield
    except yaml.YAMLError as exc:
        raise ValueError(_words(exc, text)) from exc
    except (TypeError, RecursionError) as exc:
        raise ValueError(str(exc)) from exc


def _check(text: bytes) -> None:
    """Raises YAMLError, and ValueError for a text over the limits."""
    yaml_limits.check(yaml.parse(text, Loader=_LOADER))


async def dump_in_turn(value: Any, user: str) -> bytes:
    """The YAML document of an object, made in the worker thread."""
    return await worker_thread.run(partial(dump, value), user)


def _document(value: Any) -> Iterator[yaml.Event]:
    yield yaml.StreamStartEvent()
    yield yaml.DocumentStartEvent(explicit=False)
    yield from _events(value)
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _events(value: Any) -> Iterator[yaml.Event]:
    if isinstance(value, dict):
        yield yaml.MappingStartEvent(None, None, True, flow_style=False)
        for key in _sorted(value):
            yield _scalar(key)
            yield from _events(value[key])
        yield yaml.MappingEndEvent()
    elif isinstance(value, list | tuple):
        yield yaml.SequenceStartEvent(None, None, True, flow_style=False)
        for item in value:
            yield from _events(item)
        yield yaml.SequenceEndEvent()
    else:
        yield _scalar(value)


def _scalar(value: Any) -> yaml.ScalarEvent:
    if not isinstance(value, str):
        return yaml.ScalarEvent(None, None, _UNQUOTED, yaml_scalars.written(value))
    style = None
    if "\n" in value:
        style = "|"
    elif not yaml_scalars.is_plain_text(value):
        style = '"'
    return yaml.ScalarEvent(None, None, _UNQUOTED, value, style=style)


def _sorted(keys: Any) -> list[str]:
    if all(key.isalpha() for key in keys):
        return sorted(keys)
    return sorted(keys, key=cmp_to_key(yaml_scalars.compare_keys))


def composed(body: bytes) -> YamlDocument:
    """The first document of a text that is within the limits. Raises YAMLError, ValueError."""
    loader = _Loader(body)
    return _document_of(loader, _root(loader))


def _root(loader: _Loader) -> yaml.Node | None:
    return loader.get_node() if loader.check_node() else None


def _document_of(loader: _Loader, root: yaml.Node | None) -> YamlDocument:
    value = loader.construct_document(root) if root is not None else None
    duplicates = yaml_keys.duplicates(root)
    printed = as_printed(value)
    return YamlDocument(_as_json_reads(printed), printed, (duplicates,) if duplicates else ())


def _as_json_reads(value: Any) -> Any:
    """A copy as a JSON decoder would make it. Raises ValueError for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _as_json_reads(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_json_reads(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"json: unsupported value: {gotext.float_text(value)}")
    return float(value) if type(value) is int and value not in _INTEGERS else value


def _key(key: Any, value: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int | float):
        return yaml_scalars.written(key)
    if key is None:
        raise ValueError(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {gotext.syntax_text(value)}")
    shown = gotext.syntax_text(key).replace("map[string]interface {}", "map[interface {}]interface {}")
    raise ValueError(f"yaml: invalid map key: {shown}")


def _words(exc: yaml.YAMLError, text: bytes) -> str:
    """The message of Go's library: its scanner counts lines from 1, its parser from 0, and line 0 is not shown."""
    if isinstance(exc, yaml.reader.ReaderError):
        return f"yaml: {exc.reason}"
    if not isinstance(exc, yaml.MarkedYAMLError):
        return f"yaml: {exc}"
    if isinstance(exc, yaml.composer.ComposerError) and exc.problem_mark is not None:
        return f"yaml: unknown anchor '{_word_at(exc.problem_mark, text)}' referenced"
    line = exc.problem_mark.line if exc.problem_mark is not None else 0
    if line and isinstance(exc, yaml.scanner.ScannerError):
        line += 1
    if not line and exc.context_mark is not None:
        line = exc.context_mark.line
    return f"yaml: line {line}: {exc.problem}" if line else f"yaml: {exc.problem}"


def _word_at(mark: Any, text: bytes) -> str:
    """The name of the alias at a position."""
    rest = text.decode(errors="replace").splitlines()[mark.line][mark.column + 1 :]
    return re.split(r"[^\w-]", rest, maxsplit=1)[0]
