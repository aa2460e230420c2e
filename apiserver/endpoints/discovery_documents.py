"""Discovery documents: APIVersions, APIGroupList, APIGroup, APIResourceList and APIGroupDiscoveryList.

Pure: from the served resources to JSON objects. Must hold: groups have the order of the registry, versions the order of
preference, resources the order of their names.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.apiserver.endpoints.remote_versions import RemoteVersion
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic import verbs
from aio_apiserver.registry.generic.served import Served

Document = dict[str, Any]

_CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_MAKING = frozenset({"create", "patch", "update"})


class DiscoveryGroup(Struct, frozen=True):
    """A group in discovery: the resources by version, the preferred version first.

    A version of an aggregated server is a RemoteVersion.
    """

    name: str
    versions: Mapping[str, Mapping[str, Served[Any]] | RemoteVersion]


def api_versions(address: str) -> Document:
    """The document of /api."""
    client = {"clientCIDR": "0.0.0.0/0", "serverAddress": address}
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [client]}


def api_group_list(groups: Sequence[DiscoveryGroup]) -> Document:
    """The document of /apis."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(group) for group in groups if group.name]}


def api_group(group: DiscoveryGroup) -> Document:
    """The document of one group: its versions."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group)}


def api_resource_list(group: DiscoveryGroup, version: str) -> Document:
    """The document of one version: its resources."""
    paths = group.versions[version]
    assert not isinstance(paths, RemoteVersion)
    head: Document = {"kind": "APIResourceList"}
    if group.name:
        head["apiVersion"] = "v1"
    resources = [_resource(path, paths[path]) for path in _ordered(paths)]
    return {**head, "groupVersion": _group_version(group.name, version), "resources": resources}


def discovery_list(groups: Sequence[DiscoveryGroup]) -> Document:
    """All resources of some groups (aggregated discovery, v2)."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_group_discovery(group) for group in groups],
    }


def _group_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def _group(group: DiscoveryGroup) -> Document:
    versions = [{"groupVersion": _group_version(group.name, one), "version": one} for one in group.versions]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def _ordered(paths: Mapping[str, Served[Any]]) -> list[str]:
    """The paths by name. Subresources of a custom resource follow it, in the order in which they are served."""
    names = sorted(path for path, served in paths.items() if not (served.subresource and served.kind.is_custom))
    for path in paths:
        if path not in names:
            resource = path.partition("/")[0]
            last = max(index for index, name in enumerate(names) if name.partition("/")[0] == resource)
            names.insert(last + 1, path)
    return names


def _verbs(served: Served[Any]) -> list[str]:
    """The verbs, in kube-apiserver's order."""
    offered = [verb for verb in verbs.IN_ORDER if verb in served.verbs]
    if not served.kind.is_custom or served.subresource:
        return offered
    gone = _MAKING if served.kind.is_ending else ()
    return [verb for verb in _CUSTOM_VERBS if verb in served.kind.verbs and verb not in gone]


def _resource(path: str, served: Served[Any]) -> Document:
    kind, object_kind = served.kind, served.view.object_kind
    resource: Document = {
        "name": path,
        "singularName": "" if served.subresource else kind.singular,
        "namespaced": kind.is_namespaced,
    }
    if (object_kind.group, object_kind.version) != (kind.group, served.version):
        resource["group"] = object_kind.group
        resource["version"] = object_kind.version
    resource |= {"kind": object_kind.kind, "verbs": _verbs(served)}
    return resource if served.subresource else resource | _own_facts(served)


def _own_facts(served: Served[Any]) -> Document:
    kind = served.kind
    facts: Document = {}
    if kind.short_names:
        facts["shortNames"] = list(kind.short_names)
    if kind.categories:
        facts["categories"] = list(kind.categories)
    if "watch" not in served.verbs:
        return facts
    stored = kind.stored_as or kind
    facts["storageVersionHash"] = _hash(GroupVersionKind(stored.group, stored.hub_version, stored.kind))
    return facts


def _hash(kind: GroupVersionKind) -> str:
    digest = hashlib.sha256(f"{kind.group}/{kind.version}/{kind.kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _group_discovery(group: DiscoveryGroup) -> Document:
    versions = [
        paths.discovery
        if isinstance(paths, RemoteVersion)
        else {"version": version, "resources": _resource_discoveries(paths), "freshness": "Current"}
        for version, paths in group.versions.items()
    ]
    return {"metadata": {"name": group.name} if group.name else {}, "versions": versions}


def _resource_discoveries(paths: Mapping[str, Served[Any]]) -> list[Document]:
    return [
        _resource_discovery(
            path, paths[path], [(one, paths[one]) for one in _ordered(paths) if one.startswith(f"{path}/")]
        )
        for path in sorted(paths)
        if "/" not in path
    ]


def _resource_discovery(path: str, served: Served[Any], below: Sequence[tuple[str, Served[Any]]]) -> Document:
    kind = served.kind
    discovery: Document = {
        "resource": path,
        "responseKind": _response_kind(served),
        "scope": "Namespaced" if kind.is_namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": _verbs(served),
    }
    if kind.short_names:
        discovery["shortNames"] = list(kind.short_names)
    if kind.categories:
        discovery["categories"] = list(kind.categories)
    if below:
        discovery["subresources"] = [
            {"subresource": one.partition("/")[2], "responseKind": _response_kind(sub), "verbs": _verbs(sub)}
            for one, sub in below
        ]
    return discovery


def _response_kind(served: Served[Any]) -> Document:
    """The kind of responses. Group and version are set when they differ from those of the path."""
    kind = served.view.object_kind
    is_told = served.kind.is_custom or (kind.group, kind.version) != (served.kind.group, served.version)
    if not is_told:
        return {"group": "", "version": "", "kind": kind.kind}
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}
