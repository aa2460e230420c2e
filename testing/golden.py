"""Golden: recordings of the writes of a client, which later runs are compared with.

    - request: create deployments.apps default/web
      status: 201
      body: {...}

Values that differ from run to run are replaced: UIDs, resource versions, times, and the suffixes of generated names.
Equal values get equal replacements. Pure but for the file. Must hold: two runs of a client with the same writes give
the same text.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml

from aio_apiserver.testing.bench.recorded_request import RecordedRequest

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
"""The default verbs of a recording. Reads are left out, because their number depends on timing."""

_UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
_LEFT_OUT = frozenset({"managedFields"})
_OPTIONS_LEFT_OUT = frozenset({"timeout", "timeoutSeconds", "pretty", "resourceVersion", "continue", "limit"})

Replacements = Mapping[str, str]
"""Regular expressions with their replacements."""


def text_of(requests: Iterable[RecordedRequest], replace: Replacements | None = None) -> str:
    """The recording of requests."""
    made = list(requests)
    names = _Names(made, replace or {})
    return _dump([_entry(one, names) for one in made])


def check(
    path: Path, requests: Iterable[RecordedRequest], *, update: bool = False, replace: Replacements | None = None
) -> None:
    """Compare a recording with its file, or write the file with `update`. Raises AssertionError."""
    text = text_of(requests, replace)
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return
    if not path.exists():
        raise AssertionError(f"there is no recording {path}: --apiserver-update-golden makes it")
    expected = path.read_text()
    if text != expected:
        lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), str(path), "this run", lineterm="")
        raise AssertionError("\n".join(["requests differ from their recording:", *lines]))


def _entry(one: RecordedRequest, names: "_Names") -> dict[str, Any]:
    entry: dict[str, Any] = {"request": names.replaced(one.line), "status": one.status}
    options = {
        name: names.replaced(value)
        for name, value in parse_qsl(urlsplit(one.path).query)
        if name not in _OPTIONS_LEFT_OUT
    }
    if options:
        entry["options"] = options
    if one.body is not None:
        entry["body"] = names.cleaned(one.body)
    return entry


class _Names:
    """The replacements of one recording."""

    def __init__(self, requests: list[RecordedRequest], replace: Replacements) -> None:
        self._known: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._replace = [(re.compile(pattern), text) for pattern, text in replace.items()]
        prefixes = sorted(filter(None, map(_generated, requests)), key=len, reverse=True)
        self._generated = re.compile(f"\\b({'|'.join(map(re.escape, prefixes))}){_SUFFIX}\\b") if prefixes else None

    def replaced(self, text: str) -> str:
        """A text with its replacements."""
        for pattern, instead in self._replace:
            text = pattern.sub(instead, text)
        text = _UID.sub(self._numbered("uid"), text)
        text = _TIME.sub("<time>", text)
        if self._generated is not None:
            text = self._generated.sub(self._numbered("name"), text)
        return text

    def cleaned(self, value: Any, member: str = "") -> Any:
        """A JSON value with its replacements."""
        if isinstance(value, dict):
            kept = sorted(value.keys() - _LEFT_OUT)
            return {name: self.cleaned(value[name], self._place(value, name)) for name in kept}
        if isinstance(value, list):
            return [self.cleaned(one) for one in value]
        if member == "resourceVersion" and value not in (None, "", "0"):
            return "<version>"
        return self.replaced(value) if isinstance(value, str) else value

    def _place(self, value: Mapping[str, Any], name: str) -> str:
        """The member that a value is for. In a JSON patch it is the last part of the path."""
        return str(value["path"]).rpartition("/")[2] if name == "value" and "path" in value else name

    def _numbered(self, kind: str) -> Callable[[re.Match[str]], str]:
        def name_of(match: re.Match[str]) -> str:
            found = match[0]
            if found not in self._known:
                self._counts[kind] = self._counts.get(kind, 0) + 1
                prefix = match[1] if kind == "name" else ""
                self._known[found] = f"{prefix}<{kind}-{self._counts[kind]}>"
            return self._known[found]

        return name_of


def _generated(one: RecordedRequest) -> str:
    """The generateName of a request."""
    metadata = one.body.get("metadata") if one.verb == "create" and isinstance(one.body, dict) else None
    return str(metadata.get("generateName") or "") if isinstance(metadata, dict) else ""


class _Dumper(yaml.SafeDumper):
    """Writes long texts as blocks, so that a diff shows the line that differs."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def _dump(entries: list[dict[str, Any]]) -> str:
    return yaml.dump(entries, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
