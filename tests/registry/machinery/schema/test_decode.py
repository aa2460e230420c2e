"""Decoding: what becomes of values, and Go's words for what does not fit."""

from typing import Any

import pytest

from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import DecodeError, ObjectType

FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def kind(api_version: str, name: str) -> ObjectType:
    group, _, version = api_version.rpartition("/")
    return schema.builtin().type_for(group, version, name)


POD = kind("v1", "Pod")
CONFIG_MAP = kind("v1", "ConfigMap")
CRD = kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")


def container(**members: Any) -> dict[str, Any]:
    return {"spec": {"containers": [members]}}


def crd(props: Any) -> dict[str, Any]:
    return {"spec": {"versions": [{"schema": {"openAPIV3Schema": props}}]}}


def refusal(kind: ObjectType, value: Any, text: bytes = b"") -> str:
    with pytest.raises(DecodeError) as refused:
        kind.decode(value, text=text)
    return refused.value.message


def test_nulls_are_gone() -> None:
    decoded = POD.decode({"metadata": {"creationTimestamp": None, "labels": None}, "spec": None})

    assert decoded.obj == {"metadata": {}}


def test_zeros_stay_only_behind_pointers() -> None:
    decoded = kind("apps/v1", "Deployment").decode({"spec": {"replicas": 0, "minReadySeconds": 0, "paused": False}})

    assert decoded.obj == {"spec": {"replicas": 0}}


def test_empty_strings_stay_only_behind_pointers() -> None:
    decoded = kind("v1", "PersistentVolumeClaim").decode({"spec": {"storageClassName": "", "volumeName": ""}})

    assert decoded.obj == {"spec": {"storageClassName": ""}}


def test_empty_objects_stay_and_empty_lists_and_maps_do_not() -> None:
    decoded = POD.decode({"metadata": {"labels": {}, "finalizers": []}, "spec": {"volumes": [{"emptyDir": {}}]}})

    assert decoded.obj == {"metadata": {}, "spec": {"volumes": [{"emptyDir": {}}]}}
    assert decoded.empties == (Empty(("metadata", "labels"), True), Empty(("metadata", "finalizers"), False))


def test_strategic_merges_find_what_is_empty_too() -> None:
    converted = POD.convert({"spec": {"containers": [{"env": [], "resources": {"limits": {}}, "args": None}]}})

    env, limits = ("spec", "containers", 0, "env"), ("spec", "containers", 0, "resources", "limits")
    assert converted.empties == (Empty(env, False), Empty(limits, True))


def test_null_in_lists_and_maps_is_the_zero_value() -> None:
    decoded = POD.decode(
        {
            "metadata": {"labels": {"a": None}},
            "spec": {"containers": [None, {"args": ["a", None], "resources": {"limits": {"cpu": None}}}]},
        }
    )

    assert decoded.obj == {
        "metadata": {"labels": {"a": ""}},
        "spec": {"containers": [{}, {"args": ["a", ""], "resources": {"limits": {"cpu": "0"}}}]},
    }


def test_what_is_decoded_is_not_changed() -> None:
    value = container(name="c", resources={"limits": {"cpu": 1}}, nope=1, args=None)

    POD.decode(value)

    assert value == container(name="c", resources={"limits": {"cpu": 1}}, nope=1, args=None)


def test_unknown_fields_are_left_out_and_reported_in_the_order_of_the_input() -> None:
    decoded = POD.decode(
        {"b": None, "spec": {"z": 1, "containers": [{"name": "a"}, {"name": "b", "Image": "x"}], "a": {"deep": 1}}}
    )

    assert decoded.obj == {"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}
    assert decoded.strict_errors == (
        'unknown field "b"',
        'unknown field "spec.z"',
        'unknown field "spec.containers[1].Image"',
        'unknown field "spec.a"',
    )


def test_unknown_fields_are_quoted() -> None:
    decoded = CONFIG_MAP.decode({'quote"back\\slash\n': 1})

    assert decoded.strict_errors == (r'unknown field "quote\"back\\slash\n"',)


def test_no_more_than_a_hundred_unknown_fields_are_reported() -> None:
    decoded = CONFIG_MAP.decode({f"x{index}": 1 for index in range(1000)})

    assert len(decoded.strict_errors) == 100


@pytest.mark.parametrize(
    ("value", "found", "place", "go_type"),
    [
        ({"spec": "x"}, "string", "Pod.spec", "v1.PodSpec"),
        ({"metadata": []}, "array", "Pod.metadata", "v1.ObjectMeta"),
        ({"metadata": {"labels": {"a": 1}}}, "number", "ObjectMeta.metadata.labels", "string"),
        ({"metadata": {"labels": "x"}}, "string", "ObjectMeta.metadata.labels", "map[string]string"),
        ({"metadata": {"uid": 1}}, "number", "ObjectMeta.metadata.uid", "types.UID"),
        ({"spec": {"containers": {}}}, "object", "PodSpec.spec.containers", "[]v1.Container"),
        ({"spec": {"containers": ["x"]}}, "string", "PodSpec.spec.containers", "v1.Container"),
        ({"spec": {"restartPolicy": 1}}, "number", "PodSpec.spec.restartPolicy", "v1.RestartPolicy"),
        ({"spec": {"hostNetwork": "yes"}}, "string", "PodSpec.spec.hostNetwork", "bool"),
        ({"spec": {"priority": "1"}}, "string", "PodSpec.spec.priority", "int32"),
        ({"spec": {"priority": 2**31}}, "number 2147483648", "PodSpec.spec.priority", "int32"),
        ({"spec": {"activeDeadlineSeconds": 1.5}}, "number 1.5", "PodSpec.spec.activeDeadlineSeconds", "int64"),
        ({"spec": {"activeDeadlineSeconds": 2**63}}, f"number {2**63}", "PodSpec.spec.activeDeadlineSeconds", "int64"),
        (container(args=[True]), "bool", "Container.spec.containers.args", "string"),
        (container(command=7), "number", "Container.spec.containers.command", "[]string"),
        (container(resources={"limits": 7}), "number", "ResourceRequirements.spec.containers.resources.limits",
         "v1.ResourceList"),
        (
            container(livenessProbe={"exec": {"command": "x"}}),
            "string",
            "ExecAction.spec.containers.livenessProbe.ProbeHandler.exec.command",
            "[]string",
        ),
        (
            container(env=[{"valueFrom": {"secretKeyRef": {"name": 1}}}]),
            "number",
            "SecretKeySelector.spec.containers.env.valueFrom.secretKeyRef.LocalObjectReference.name",
            "string",
        ),
    ],
)  # fmt: skip
def test_json_of_the_wrong_type_is_told_in_the_words_of_go(value: Any, found: str, place: str, go_type: str) -> None:
    message = refusal(POD, value)

    assert message == f"json: cannot unmarshal {found} into Go struct field {place} of type {go_type}"


def test_a_value_that_is_no_object_has_no_place() -> None:
    assert refusal(POD, []) == "json: cannot unmarshal array into Go value of type v1.Pod"


def test_the_first_mismatch_is_the_error() -> None:
    message = refusal(POD, {"spec": {"hostNetwork": 1, "priority": "x"}})

    assert message.endswith("PodSpec.spec.hostNetwork of type bool")


def test_a_quantity_that_does_not_parse_ends_decoding_and_outdoes_a_mismatch() -> None:
    value = {"spec": {"hostNetwork": 1, "containers": [{"resources": {"limits": {"cpu": "x"}}}]}}

    assert refusal(POD, value) == FORMAT


def test_the_first_of_base64_and_mismatches_is_the_error() -> None:
    secret = kind("v1", "Secret")

    assert refusal(secret, {"data": {"a": "%"}, "type": 1}) == "illegal base64 data at input byte 0"
    assert refusal(secret, {"type": 1, "data": {"a": "%"}}).endswith("Secret.type of type v1.SecretType")


def test_times_and_ports_of_the_wrong_type_know_their_place() -> None:
    assert refusal(POD, {"metadata": {"creationTimestamp": 5}}) == (
        "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string"
    )
    assert refusal(POD, container(livenessProbe={"httpGet": {"port": 1.5}})) == (
        "json: cannot unmarshal number 1.5 into Go struct field "
        "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32"
    )


@pytest.mark.parametrize(("written", "kept"), [(1, "1"), (0.5, "500m"), ("1.5k", "1500"), ("1n", "1m"), (" 1 ", "1")])
def test_quantities_are_kept_in_their_canonical_form(written: Any, kept: str) -> None:
    decoded = POD.decode(container(resources={"limits": {"cpu": written}}))

    assert decoded.obj == container(resources={"limits": {"cpu": kept}})


@pytest.mark.parametrize("value", [True, [], {}, [1]])
def test_json_that_is_no_quantity_is_refused(value: Any) -> None:
    assert refusal(POD, container(resources={"limits": {"cpu": value}})) == FORMAT


def test_bytes_may_be_a_list_of_numbers() -> None:
    decoded = kind("v1", "Secret").decode({"data": {"a": [65, 66]}})

    assert decoded.obj == {"data": {"a": "QUI="}}
    assert refusal(kind("v1", "Secret"), {"data": {"a": [256]}}).startswith("json: cannot unmarshal number 256 into")


def test_free_json_is_kept_as_it_came() -> None:
    decoded = kind("apps/v1", "ControllerRevision").decode({"data": {"z": None, "a": [1.0, {}]}})

    assert decoded.obj == {"data": {"z": None, "a": [1.0, {}]}}


def test_schemas_may_be_booleans_or_lists_where_their_type_says_so() -> None:
    props = {"additionalProperties": True, "items": {"type": "string"}, "dependencies": {"a": ["b"]}}

    assert CRD.decode(crd(props)).obj == crd(props)


def test_within_alternatives_nothing_is_unknown_and_places_go_on() -> None:
    decoded = CRD.decode(crd({"items": {"type": "string", "bogus": 1}}))

    assert decoded.obj == crd({"items": {"type": "string"}})
    assert decoded.strict_errors == ()
    assert refusal(CRD, crd({"items": {"type": 1}})) == (
        "json: cannot unmarshal number into Go struct field "
        "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.type of type string"
    )


def test_what_is_neither_boolean_nor_schema_is_refused() -> None:
    assert refusal(CRD, crd({"additionalProperties": "yes"})) == "boolean or JSON schema expected"


def test_what_no_alternative_takes_is_nothing_where_the_type_does_not_mind() -> None:
    assert CRD.decode(crd({"items": "yes"})).obj == crd({})


def test_defaults_in_schemas_are_sorted_and_whole_numbers_lose_their_fraction() -> None:
    decoded = CRD.decode(crd({"default": {"b": 1.0, "a": 1.5}, "maximum": 5.0}))

    props = decoded.obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert list(props["default"].items()) == [("a", 1.5), ("b", 1)]
    assert repr(props["maximum"]) == "5"


@pytest.mark.parametrize("number", ["1e400", "-1e999"])
def test_numbers_that_no_float_holds_are_refused(number: str) -> None:
    text = f'{{"spec": {{"versions": [{{"schema": {{"openAPIV3Schema": {{"minimum": {number}}}}}}}]}}}}'

    assert f"cannot unmarshal number {number} into" in refusal(CRD, crd({"minimum": float(number)}), text.encode())


def test_integers_of_any_length_are_refused() -> None:
    assert "cannot unmarshal number 1e+" in refusal(POD, {"spec": {"priority": 10**5000}})
    assert refusal(POD, container(resources={"limits": {"cpu": 10**5000}})) == "unable to parse quantity's suffix"
    assert "of type float64" in refusal(CRD, crd({"minimum": 10**5000}))


def test_schemas_are_nested_only_so_deeply() -> None:
    props: dict[str, Any] = {}
    for _ in range(10_000):
        props = {"not": props}

    assert refusal(CRD, crd(props)) == "exceeded max depth"


def test_as_many_levels_as_are_read_are_also_printed() -> None:
    props: dict[str, Any] = {}
    for _ in range(95):
        props = {"properties": {"a": props}}

    decoded = CRD.decode(crd(props))

    assert CRD.canonical(decoded.obj)["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == props
