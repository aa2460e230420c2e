from typing import Any

from aio_apiserver.registry.machinery.openapi.swagger_merge import merged

ROOT = "#/definitions/"


def reference(name: str) -> dict[str, str]:
    return {"$ref": f"{ROOT}{name}"}


OWN: dict[str, Any] = {
    "swagger": "2.0",
    "paths": {"/own": {}},
    "definitions": {"Meta": {"type": "object"}, "Same": {"type": "string"}},
}


def test_paths_bring_the_definitions_that_they_need() -> None:
    remote = {
        "paths": {"/theirs": {"get": reference("A")}},
        "definitions": {
            "A": {"items": reference("B")},
            "B": {"x": reference("B")},
            "C": {},
            "Same": {"type": "string"},
        },
    }

    document = merged(OWN, remote)

    assert list(document["paths"]) == ["/theirs", "/own"]
    assert list(document["definitions"]) == ["A", "B", "Meta", "Same"]


def test_another_definition_of_the_same_name_gets_another_name() -> None:
    remote = {
        "paths": {"/theirs": {"get": [reference("Meta"), reference("Same")]}},
        "definitions": {"Meta": {"type": "array", "items": reference("Same")}, "Same": {"type": "string"}},
    }

    document = merged(OWN, remote)

    assert document["definitions"]["Meta"] == {"type": "object"}
    assert document["definitions"]["Meta_v2"]["items"] == reference("Same")
    assert document["paths"]["/theirs"]["get"] == [reference("Meta_v2"), reference("Same")]


def test_paths_of_this_server_stay_as_they_are() -> None:
    remote: dict[str, Any] = {"paths": {"/own": {"get": {}}}, "definitions": {}}

    assert merged(OWN, remote)["paths"]["/own"] == {}
