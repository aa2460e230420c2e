from typing import Any

from aio_apiserver.registry.machinery.openapi import version3
from aio_apiserver.registry.machinery.openapi.custom import CustomGroupVersion, CustomResource
from aio_apiserver.registry.machinery.openapi.definitions import PublishedDefinitions
from aio_apiserver.registry.machinery.openapi.swagger import Swagger
from aio_apiserver.registry.machinery.schema import definitions
from tests.registry.machinery.openapi.resources import read

SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A gizmo.",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size", "hint"],
            "properties": {
                "size": {"type": "integer", "default": 1, "minimum": 0},
                "hint": {"type": "string", "nullable": True},
                "port": {"x-kubernetes-int-or-string": True},
                "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {}}},
                "child": {"type": "object", "x-kubernetes-embedded-resource": True},
            },
        }
    },
}
META_REFERENCE = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def gizmos(schema: dict[str, Any] | None = SCHEMA, *, digest: str = "1") -> CustomGroupVersion:
    resource = CustomResource(
        plural="gizmos",
        kind="Gizmo",
        list_kind="GizmoList",
        is_namespaced=True,
        schema=lambda: schema,
        digest=digest,
        has_status=True,
        has_scale=True,
    )
    return CustomGroupVersion("example.com", "v1", "1.36", [resource])


def test_a_definition_is_named_by_its_group_backwards() -> None:
    document = version3.document(gizmos(), PublishedDefinitions(definitions.load()))

    own = document["components"]["schemas"]

    assert {"com.example.v1.Gizmo", "com.example.v1.GizmoList"} < own.keys()
    assert "io.k8s.api.autoscaling.v1.Scale" in own
    assert "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" in own


def test_of_shared_types_it_names_the_kinds_that_every_client_knows() -> None:
    document = version3.document(gizmos(), PublishedDefinitions(definitions.load()))

    options = document["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
    groups = {kind["group"] for kind in options["x-kubernetes-group-version-kind"]}
    assert {"", "apps"} < groups
    assert "apiextensions.k8s.io" not in groups


def test_version_3_tells_the_whole_schema() -> None:
    spec = gizmos().schemas().version3["com.example.v1.Gizmo"]["properties"]["spec"]

    assert spec["properties"]["size"]["default"] == 1
    assert spec["properties"]["hint"]["nullable"]
    assert spec["properties"]["port"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert spec["properties"]["child"]["required"] == ["kind", "apiVersion"]


def test_version_2_drops_what_its_clients_cannot_cope_with() -> None:
    gizmo = gizmos().schemas().version2["com.example.v1.Gizmo"]
    spec = gizmo["properties"]["spec"]

    assert spec["required"] == ["size"]
    assert spec["properties"]["size"] == {"type": "integer", "minimum": 0}
    assert spec["properties"]["hint"] == {}
    assert spec["properties"]["port"] == {"x-kubernetes-int-or-string": True}
    assert spec["properties"]["raw"] == {"x-kubernetes-preserve-unknown-fields": True}
    assert gizmo["properties"]["metadata"]["$ref"] == META_REFERENCE


def test_without_a_schema_anything_is_an_object() -> None:
    own = gizmos(None).schemas()

    assert own.version3["com.example.v1.Gizmo"]["type"] == "object"
    assert "properties" not in own.version3["com.example.v1.Gizmo"]


def test_the_schema_that_came_in_is_not_changed() -> None:
    gizmos().schemas()

    assert SCHEMA["properties"]["spec"]["required"] == ["size", "hint"]
    assert "apiVersion" not in SCHEMA["properties"]


def test_subresources_have_routes() -> None:
    routes = {route.operation: route for route in gizmos().routes()}

    assert routes["replaceNamespacedGizmoScale"].body == "io.k8s.api.autoscaling.v1.Scale"
    assert routes["patchNamespacedGizmoStatus"].description == "partially update status of the specified Gizmo"
    assert routes["listGizmoForAllNamespaces"].path == "/apis/example.com/v1/gizmos"
    assert routes["createNamespacedGizmo"].description == "create a Gizmo"


def test_custom_resources_stand_beside_the_others_in_version_2() -> None:
    document = read(_swagger().document([gizmos()], _types))

    path = document["paths"]["/apis/example.com/v1/namespaces/{namespace}/gizmos/{name}"]

    assert path["get"]["responses"]["200"]["schema"] == {"$ref": "#/definitions/com.example.v1.Gizmo"}
    assert "com.example.v1.Gizmo" in document["definitions"]


def test_the_document_of_version_2_follows_what_is_defined() -> None:
    writer = _swagger()
    first = read(writer.document([gizmos()], _types))

    assert read(writer.document([gizmos()], _types)) == first
    assert read(writer.document([gizmos(digest="2")], _types)) == first
    assert not read(writer.document([], _types))["paths"]


def _swagger() -> Swagger:
    return Swagger(title="Kubernetes", version="1.36")


def _types() -> PublishedDefinitions:
    return PublishedDefinitions(definitions.load())


def test_the_key_changes_with_the_definition() -> None:
    assert gizmos().key == gizmos().key
    assert gizmos(digest="2").key != gizmos().key
