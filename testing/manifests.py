"""Manifests: applies objects from files, folders and texts, as `kubectl apply --server-side` does.

Namespaces and CustomResourceDefinitions go first, whatever the order of the files. Custom resources wait until their
definition is established. Must hold: the error for an object names the object and its file.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import yaml

from aio_apiserver.testing.client import BlockingClient, Refused

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SUFFIXES = (".yaml", ".yml", ".json")
_APPLY = "application/apply-patch+yaml"
_QUERY = "?fieldManager=apiserver-testing&force=true"
_FIRST = ("Namespace", "CustomResourceDefinition")
DEFINITION = "CustomResourceDefinition"
_ALL_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_SECONDS = 10.0
_PAUSE = 0.01

Manifest = dict[str, Any]
Source = Path | str | Manifest
"""A file or folder, a text of YAML documents, or an object."""


def sources_of(given: Source | Sequence[Source]) -> Sequence[Source]:
    """One source, or several."""
    return (given,) if isinstance(given, str | Path | dict) else tuple(given)


class ManifestPart(NamedTuple):
    """One object, and where it was read."""

    obj: Manifest
    where: str


def apply(client: BlockingClient, sources: Iterable[Source]) -> Sequence[Manifest]:
    """Apply all objects. Returns them as stored. Raises OSError, ValueError, Refused."""
    found = read(sources)
    loader = Loader(client)
    return [loader.put(one) for one in found]


def read(sources: Iterable[Source]) -> Sequence[ManifestPart]:
    """All objects, in the order in which they are applied. Raises OSError, ValueError."""
    found = [one for source in sources for one in _objects_of(source)]
    return sorted(found, key=lambda one: _FIRST.index(one.obj["kind"]) if one.obj["kind"] in _FIRST else len(_FIRST))


class Loader:
    """Applies objects, and remembers the discovery documents that it has read."""

    def __init__(self, client: BlockingClient) -> None:
        self._client = client
        self._resources: dict[str, dict[str, tuple[str, bool]]] = {}

    def put(self, one: ManifestPart) -> Manifest:
        obj = one.obj
        try:
            name = quote(obj["metadata"]["name"], safe="")
            path = f"{self.collection(obj)}/{name}{_QUERY}"
            made = self._client.request("PATCH", path, obj, content_type=_APPLY)
            if obj["kind"] == DEFINITION:
                self._wait_until_served(name)
            return made
        except (Refused, KeyError, ValueError, TimeoutError) as exc:
            named = (obj.get("metadata") or {}).get("name", "without a name")
            raise ValueError(f"{one.where}: {obj['kind']} {named}: {exc}") from exc

    def collection(self, obj: Manifest) -> str:
        """The path of the objects of its kind and namespace. Raises Refused, ValueError."""
        version = obj["apiVersion"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        plural, is_namespaced = self._resource(root, obj["kind"])
        namespace = quote(obj["metadata"].get("namespace") or "default", safe="")
        return f"{root}/namespaces/{namespace}/{plural}" if is_namespaced else f"{root}/{plural}"

    def _resource(self, root: str, kind: str) -> tuple[str, bool]:
        if root not in self._resources:
            listed = self._client.request("GET", root)["resources"]
            self._resources[root] = {
                one["kind"]: (one["name"], one["namespaced"]) for one in listed if "/" not in one["name"]
            }
        if kind not in self._resources[root]:
            raise ValueError(f"{root} has no kind {kind}")
        return self._resources[root][kind]

    def _wait_until_served(self, name: str) -> None:
        ends = time.monotonic() + _SECONDS
        while time.monotonic() < ends:
            found = self._client.request("GET", f"{_ALL_DEFINITIONS}/{name}")
            conditions = found.get("status", {}).get("conditions") or ()  # null until they are judged
            if any(one["type"] == "Established" and one["status"] == "True" for one in conditions):
                return
            time.sleep(_PAUSE)
        raise TimeoutError("it is not established")


def _objects_of(source: Source) -> Iterator[ManifestPart]:
    if isinstance(source, dict):
        yield from _flat(source, "the given object")
    elif isinstance(source, str) and "\n" in source:
        yield from _documents(source, "the given text")
    else:
        for path in _files(_path(source)):
            yield from _documents(path.read_text(), str(path))


def _path(source: str | Path) -> Path:
    """Raises TypeError."""
    try:
        return Path(source)
    except TypeError as exc:
        given = type(source).__name__
        raise TypeError(f"a {given} is no manifest: give each path or object by itself, apply(*manifests)") from exc


def _files(path: Path) -> Sequence[Path]:
    """A file, or the files of a folder and its subfolders, sorted by name."""
    if path.is_dir():
        return [file for file in sorted(path.rglob("*")) if file.suffix in _SUFFIXES and file.is_file()]
    return [path]


def _documents(text: str, where: str) -> Iterator[ManifestPart]:
    try:
        for document in yaml.load_all(text, Loader=_LOADER):
            if document is not None:
                yield from _flat(document, where)
    except yaml.YAMLError as exc:
        raise ValueError(f"{where}: {exc}") from exc


def _flat(document: Any, where: str) -> Iterator[ManifestPart]:
    """An object, or the objects of a list."""
    if not isinstance(document, dict) or "kind" not in document or "apiVersion" not in document:
        raise ValueError(f"{where}: a document is no Kubernetes object")
    if document["kind"].endswith("List") and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _flat(item, where)
    else:
        yield ManifestPart(document, where)
