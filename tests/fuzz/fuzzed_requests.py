"""Fuzzed requests: the requests of the recordings, each a little wrong.

Must hold: the server dials no address that a request names. So nothing is relayed to kubelets, pods or services, and no
request names a webhook or an aggregated server.
"""

import contextlib
import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

import orjson
import yaml

from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.machinery.schema import UnknownKind
from aio_apiserver.registry.machinery.serializers import protobuf
from tests.fuzz import mutations
from tests.golden.recorded import CASSETTES, TYPES

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
PATCHES = tuple(
    f"application/{one}"
    for one in ("json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml")
)
ACCEPTED = (
    *(JSON, YAML, PROTOBUF, "*/*", "", "text/plain", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    *("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "application/cbor", "a/b;q=x"),
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "FOO", "TRACE")
PARAMETERS = (
    *(
        "watch",
        "limit",
        "continue",
        "resourceVersion",
        "resourceVersionMatch",
        "labelSelector",
        "fieldSelector",
        "dryRun",
    ),
    *(
        "fieldManager",
        "fieldValidation",
        "force",
        "pretty",
        "timeout",
        "timeoutSeconds",
        "allowWatchBookmarks",
        "orphanDependents",
    ),
    *("sendInitialEvents", "propagationPolicy", "gracePeriodSeconds", "includeObject", "export", "shardSelector"),
)
HEADERS = (
    *("Accept", "Content-Type", "Impersonate-User", "Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-a%2fb"),
    *(
        "X-Remote-User",
        "Authorization",
        "If-None-Match",
        "Audit-ID",
        "Content-Encoding",
        "Accept-Encoding",
        "User-Agent",
    ),
)
_DIALLED = re.compile(r"/(proxy|exec|attach|portforward|log)\b|/watch/", re.IGNORECASE)
_NAMING_HOSTS = (b"clientConfig", b"webhook", b"apiregistration.k8s.io", b"externalName")
_UNCHANGED = 0.3
_YAML_SHARE = 0.5
_NOT_WRITTEN = (orjson.JSONDecodeError, DecodeError, UnknownKind, ValueError, TypeError, AttributeError, KeyError)
"""What the serializers raise for values that are no objects."""
_NAMESPACES = re.compile(r"^/api/v1/namespaces(/[^/]*)?/?$")
_FILLED = re.compile(r"/namespaces/fuzz/\w+$|/customresourcedefinitions$")
_NAMES = {"ns": "fuzz", "run": "1"}
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_NO_HEADER = re.compile(r"[^\t\x20-\x7e\x80-\xff]")


@dataclass(frozen=True, slots=True)
class FuzzedRequest:
    """One request. `body` is bytes already."""

    method: str
    path: str
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def target(self) -> str:
        query = "&".join(f"{quote(name, safe='')}={quote(value, safe='%')}" for name, value in self.query)
        return quote(self.path, safe="/%:@!$'()*,;=~") + (f"?{query}" if query else "")

    @property
    def is_watch(self) -> bool:
        return any(name == "watch" for name, _ in self.query)


@cache
def seeds() -> Sequence[Sequence[FuzzedRequest]]:
    """The recorded conversations, without the requests that name a host."""
    scenarios = [one for path in sorted(CASSETTES.glob("*.json.gz")) for one in _loaded(path)["scenarios"]]
    found = (
        [_seed(step) for step in _steps(one) if step.get("path", "").startswith("/") and "method" in step]
        for one in scenarios
    )
    harmless = ([seed for seed in conversation if is_harmless(seed)] for conversation in found)
    return [conversation for conversation in harmless if conversation]


def _loaded(path: Path) -> Any:
    text = gzip.decompress(path.read_bytes()).decode()
    return orjson.loads(_VARIABLE.sub(lambda found: _NAMES.get(found[1], "1"), text))


def _steps(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for step in scenario["steps"]:
        yield step
        yield from step.get("during", ())


def _seed(step: dict[str, Any]) -> FuzzedRequest:
    path, _, query = step["path"].partition("?")
    body = step.get("body")
    headers = {name: value for name, value in step.get("headers", {}).items() if value is not None}
    if body is not None:
        headers.setdefault("Content-Type", JSON)
    text = body.encode() if isinstance(body, str) else b"" if body is None else mutations.dumped(body)
    return FuzzedRequest(step["method"], unquote(path), parse_qsl(query, keep_blank_values=True), headers, text)


def is_harmless(request: FuzzedRequest) -> bool:
    """Whether the server dials no host for a request, and its namespace stays for the next ones."""
    if _DIALLED.search(request.path) or any(name in request.body for name in _NAMING_HOSTS):
        return False
    return request.method != "DELETE" or not _NAMESPACES.search(request.path)


def collections() -> Sequence[str]:
    """The collections that the conversations fill."""
    paths = {seed.path for conversation in seeds() for seed in conversation if seed.method == "POST"}
    return sorted(path for path in paths if _FILLED.search(path))


def conversation(random: Random) -> Iterator[FuzzedRequest]:
    """A recorded conversation of which most requests are a little wrong."""
    for seed in random.choice(seeds()):
        fuzzed = seed if random.random() < _UNCHANGED else mutated(random, seed)
        if is_harmless(fuzzed):
            yield fuzzed


def mutated(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    """A request that differs from another one in one to three ways."""
    for change in random.choices(_CHANGES, _WEIGHTS, k=random.choice((1, 1, 1, 2, 3))):
        seed = change(random, seed)
    return seed


def _method(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    return replace(seed, method=random.choice(METHODS))


def _path(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    steps = seed.path.split("/")
    place = random.randrange(len(steps))
    other = random.choice(random.choice(seeds())).path.split("/")
    changed = random.choice((mutations.text(random, steps[place]), other[min(place, len(other) - 1)]))
    return replace(seed, path="/" + "/".join([*steps[:place], changed, *steps[place + 1 :]]).lstrip("/"))


def _query(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    value = random.choice(("true", "All", "Orphan", "Exact", "NotOlderThan", *mutations.ODD_TEXTS))
    return replace(seed, query=[*seed.query, (random.choice(PARAMETERS), value)])


def _header(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    name = random.choice(HEADERS)
    value = random.choice(ACCEPTED if name in ("Accept", "Content-Type") else mutations.ODD_TEXTS)
    return replace(seed, headers={**seed.headers, name: _NO_HEADER.sub("", value)})


def _patch_type(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    return replace(seed, method="PATCH", headers={**seed.headers, "Content-Type": random.choice(PATCHES)})


def _bytes(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    return replace(seed, body=mutations.data(random, seed.body))


def _document(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    try:
        value = orjson.loads(seed.body)
    except orjson.JSONDecodeError:
        return _bytes(random, seed)
    return replace(seed, body=mutations.dumped(mutations.document(random, value)))


def _other_format(random: Random, seed: FuzzedRequest) -> FuzzedRequest:
    """The same object in YAML or protobuf."""
    with contextlib.suppress(*_NOT_WRITTEN):
        value = orjson.loads(seed.body)
        if random.random() < _YAML_SHARE:
            return _typed(seed, YAML, yaml.safe_dump(value).encode())
        group, _, version = value["apiVersion"].rpartition("/")
        known = TYPES.type_for(group, version, value["kind"])
        typed = known.canonical(known.decode(value).obj)
        return _typed(
            seed, PROTOBUF, protobuf.dump({**typed, "apiVersion": value["apiVersion"], "kind": value["kind"]}, TYPES)
        )
    return seed


def _typed(seed: FuzzedRequest, media_type: str, body: bytes) -> FuzzedRequest:
    return replace(seed, body=body, headers={**seed.headers, "Content-Type": media_type})


_CHANGES = (_document, _bytes, _path, _query, _header, _method, _patch_type, _other_format)
_WEIGHTS = (8, 2, 3, 4, 2, 1, 1, 1)
