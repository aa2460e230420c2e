from functools import cache
from typing import Any

from aio_apiserver.registry.machinery.openapi import roots, version3
from aio_apiserver.registry.machinery.openapi.definitions import Definitions
from aio_apiserver.registry.machinery.openapi.routes import Source
from aio_apiserver.registry.machinery.openapi.swagger import Swagger
from aio_apiserver.registry.machinery.schema import definitions
from tests.registry.machinery.openapi.resources import PODS, core, read

POD_PATH = "/api/v1/namespaces/{namespace}/pods/{name}"
SERVICE_PORT = "io.k8s.api.core.v1.ServicePort"


@cache
def known() -> Definitions:
    return Definitions(definitions.load())


def version2_of(source: Source) -> dict[str, Any]:
    return read(Swagger(title="Kubernetes", version="1.36").document([source], known))


def version3_of(source: Source) -> dict[str, Any]:
    return version3.document(source, known())


def test_definitions_are_those_that_routes_lead_to() -> None:
    document = version2_of(core(PODS))

    assert "io.k8s.api.core.v1.Container" in document["definitions"]
    assert "io.k8s.api.apps.v1.Deployment" not in document["definitions"]


def test_shared_parameters_are_named_by_what_they_say() -> None:
    document = version2_of(core(PODS))

    assert {"continue-QfD61s0i", "namespace-vgWSWtn3", "body-2Y1dVQaQ"} < document["parameters"].keys()
    assert {"$ref": "#/parameters/pretty-tJGM1-ng"} in document["paths"][POD_PATH]["parameters"]


def test_clients_find_dry_runs_at_the_operations() -> None:
    document = version2_of(core(PODS))

    names = [one.get("name") for one in document["paths"][POD_PATH]["patch"]["parameters"]]

    assert {"dryRun", "fieldValidation"} < set(names)


def test_version_3_wraps_references_that_do_not_stand_alone() -> None:
    document = version3_of(core(PODS))

    pod = document["components"]["schemas"]["io.k8s.api.core.v1.Pod"]["properties"]

    reference = {"$ref": "#/components/schemas/io.k8s.api.core.v1.PodSpec"}
    assert pod["spec"]["allOf"] == [reference]
    assert pod["spec"]["default"] == {}


def test_version_3_tells_defaults_and_version_2_does_not() -> None:
    newer = known().version3([SERVICE_PORT], None)[SERVICE_PORT]["properties"]
    older = known().version2([SERVICE_PORT])[SERVICE_PORT]["properties"]

    assert newer["port"]["default"] == 0
    assert newer["protocol"]["default"] == "TCP"
    assert "default" not in newer["nodePort"]
    assert "default" not in older["port"]


def test_both_versions_tell_the_values_of_enumerations() -> None:
    newer = known().version3([SERVICE_PORT], None)[SERVICE_PORT]["properties"]
    older = known().version2([SERVICE_PORT])[SERVICE_PORT]["properties"]

    assert newer["protocol"]["enum"] == older["protocol"]["enum"] == ["SCTP", "TCP", "UDP"]
    assert older["protocol"]["description"].endswith('Possible enum values:\n - `"SCTP"`\n - `"TCP"`\n - `"UDP"`')


def test_types_of_all_groups_name_the_kinds_of_one_version() -> None:
    document = version3_of(core(PODS))

    options = document["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]

    assert options["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "DeleteOptions", "version": "v1"}]


def test_amounts_are_text_or_numbers() -> None:
    name = "io.k8s.apimachinery.pkg.api.resource.Quantity"

    assert known().version3([name], None)[name]["oneOf"] == [{"type": "string"}, {"type": "number"}]
    assert known().version2([name])[name]["type"] == "string"


def test_each_root_is_a_document_of_its_own() -> None:
    paths = [list(version3_of(root)["paths"]) for root in (roots.legacy("1.36"), roots.group("apps", "1.36"))]

    assert paths == [["/api/"], ["/apis/apps/"]]
