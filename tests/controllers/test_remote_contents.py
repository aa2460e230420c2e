"""Terminating namespaces with objects on an aggregated server."""

from pathlib import Path
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from tests.apiserver.extension_servers import GROUP, ROOT, VERSION, extension
from tests.apiserver.test_aggregation import API_SERVICES, NAME, condition, register, send
from tests.controllers import clusters
from tests.storage.kv.certificates import Authority

_NAMESPACE = "work"
_STALE = f"{GROUP}/{VERSION}"
_MERGE = {"Content-Type": "application/merge-patch+json"}


def _resource(plural: str, *verbs: str, namespaced: bool = True) -> dict[str, Any]:
    return {"name": plural, "singularName": "", "namespaced": namespaced, "kind": plural, "verbs": list(verbs)}


def _list(*names: str) -> dict[str, Any]:
    return {"items": [{"metadata": {"name": name, "namespace": _NAMESPACE}} for name in names]}


_RESOURCES = [
    _resource("greetings", "delete", "deletecollection", "list"),
    _resource("letters", "delete", "list"),
    _resource("worlds", "delete", "list", namespaced=False),
    _resource("reports", "get", "list"),
]
_DOCUMENTS = {
    ROOT: {"kind": "APIResourceList", "groupVersion": _STALE, "resources": _RESOURCES},
    f"{ROOT}/namespaces/{_NAMESPACE}/greetings": _list("a", "b"),
    f"{ROOT}/namespaces/{_NAMESPACE}/letters": _list("c", "d"),
}


def _discovery_failure(namespace: Object) -> str:
    conditions = namespace["status"].get("conditions") or ()
    found = [one for one in conditions if one["type"] == "NamespaceDeletionDiscoveryFailure"]
    return str(found[0]["message"]) if found and found[0]["status"] == "True" else ""


async def test_a_namespace_waits_for_an_aggregated_server_and_goes_with_its_objects(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with (
        extension(authority, is_modern=False, documents=_DOCUMENTS) as served,
        clusters.running(tmp_path, "namespace-controller", disable_admission_plugins=("ServiceAccount",)) as cluster,
    ):
        served.fails = True
        await register(cluster.server, authority, served.port)
        await condition(cluster.server, "FailedDiscoveryCheck")
        namespace = await cluster.client.create(places.NAMESPACES, {"metadata": {"name": _NAMESPACE}})
        await cluster.client.delete(places.NAMESPACES, namespace)

        held = await cluster.until(places.NAMESPACES, lambda items: _discovery_failure(items[_NAMESPACE]))
        served.fails = False
        again = {"metadata": {"labels": {"look": "again"}}}
        await send(cluster.server, f"{API_SERVICES}/{NAME}", method="PATCH", obj=again, **_MERGE)
        await cluster.gone(places.NAMESPACES, _NAMESPACE)

    assert _discovery_failure(held[_NAMESPACE]) == (
        "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "
        f"{_STALE}: stale GroupVersion discovery: {_STALE}"
    )
    deleted = [
        path.removeprefix(f"{ROOT}/namespaces/{_NAMESPACE}/") for verb, path, _ in served.asked if verb == "DELETE"
    ]
    assert list(dict.fromkeys(deleted)) == ["greetings", "letters/c", "letters/d"]
    assert served.documents[f"{ROOT}/namespaces/{_NAMESPACE}/greetings"]["items"] == []
