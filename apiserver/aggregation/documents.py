"""Documents: reads the discovery and OpenAPI documents of aggregated servers.

Pure. Must hold: a document that cannot be read raises UnreadableDocument, whatever is wrong with it. A document has
at most as many maps and lists as the body of a client.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from aio_apiserver.apiserver.endpoints.remote_versions import Document
from aio_apiserver.registry.machinery.openapi import swagger_merge
from aio_apiserver.registry.machinery.schema import builtin, depth
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf import swagger

_NO_KIND = {"group": "", "version": "", "kind": ""}
_AGGREGATED = ("v=v2", "v=v2beta1")


class UnreadableDocument(ValueError):
    """The document cannot be read."""


def is_aggregated(content_type: str) -> bool:
    """Whether a response is aggregated discovery."""
    parts = {part.strip() for part in content_type.split(";")}
    is_list = {"g=apidiscovery.k8s.io", "as=APIGroupDiscoveryList"} <= parts
    return is_list and any(version in parts for version in _AGGREGATED)


def versions_of_list(body: bytes) -> Mapping[tuple[str, str], Document]:
    """The entry of each version in aggregated discovery. Raises UnreadableDocument."""
    try:
        return {
            (group.get("metadata", {}).get("name", ""), one["version"]): _checked(_version(one))
            for group in _loaded(body).get("items") or ()
            for one in group.get("versions") or ()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise UnreadableDocument(str(exc)) from exc


def version_of_resources(body: bytes, version: str) -> Document:
    """The entry of a version, made from its APIResourceList. Raises UnreadableDocument."""
    try:
        listed = _loaded(body).get("resources") or ()
        return _checked({"version": version, "resources": list(_resources(listed))})
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise UnreadableDocument(str(exc)) from exc


def openapi2(body: bytes, root: str) -> Document:
    """The paths below a root in an OpenAPI version 2 document, with all definitions. Raises UnreadableDocument.

    A document that cannot be merged and written as JSON and protobuf is unreadable, too.
    """
    try:
        document = _loaded(body)
        paths = {path: item for path, item in document["paths"].items() if f"{path}/".startswith(f"{root}/")}
        found = {"paths": paths, "definitions": document.get("definitions") or {}}
        merged = swagger_merge.merged({"paths": {}, "definitions": {}}, found)
        orjson.dumps(merged)  # refuses what is nested too deep
        swagger.dump(merged)
        return found
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise UnreadableDocument(str(exc)) from exc


def openapi3_address(body: bytes, path: str) -> str:
    """The address of the OpenAPI version 3 document of a path; empty without one. Raises UnreadableDocument."""
    try:
        found = (_loaded(body).get("paths") or {}).get(path) or {}
        return str(found.get("serverRelativeURL", ""))
    except (ValueError, TypeError, AttributeError) as exc:
        raise UnreadableDocument(str(exc)) from exc


def _loaded(body: bytes) -> Any:
    if body.count(b"{") + body.count(b"[") > depth.MOST_VALUES:
        raise ValueError(f"it has more than {depth.MOST_VALUES} maps and lists")
    return orjson.loads(body)


def _checked(version: Document) -> Document:
    """Check that the entry can be written as protobuf: values of wrong types cannot."""
    whole = {
        "apiVersion": "apidiscovery.k8s.io/v2",
        "kind": "APIGroupDiscoveryList",
        "items": [{"versions": [version]}],
    }
    protobuf.dump(whole, builtin())
    return version


def _version(found: Mapping[str, Any]) -> Document:
    """The entry of a version for our discovery. Each resource gets a responseKind, which some clients need."""
    resources = [
        {
            **one,
            "responseKind": one.get("responseKind") or _NO_KIND,
            **(
                {"subresources": [{**sub, "responseKind": sub.get("responseKind") or _NO_KIND} for sub in below]}
                if (below := one.get("subresources"))
                else {}
            ),
        }
        for one in found.get("resources") or ()
    ]
    return {"version": found["version"], **({"resources": resources} if resources else {})}


def _resources(listed: Iterable[Mapping[str, Any]]) -> Iterable[Document]:
    found: dict[str, Document] = {}
    for one in listed:
        name, _, subresource = one["name"].partition("/")
        kind = {"group": one.get("group", ""), "version": one.get("version", ""), "kind": one.get("kind", "")}
        resource = found.setdefault(name, {"resource": name})
        if subresource:
            below = {"subresource": subresource, "responseKind": kind, "verbs": list(one.get("verbs") or ())}
            resource.setdefault("subresources", []).append(below)
            continue
        resource |= {
            "responseKind": kind,
            "scope": "Namespaced" if one.get("namespaced") else "Cluster",
            "singularResource": one.get("singularName", ""),
            "verbs": list(one.get("verbs") or ()),
            **{member: one[member] for member in ("shortNames", "categories") if one.get(member)},
        }
    return found.values()
