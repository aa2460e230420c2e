"""Conversion of patched objects: the words and the ways of the unstructured converter."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import DecodeError, ObjectType

POD = schema.builtin().type_for("", "v1", "Pod")
SECRET = schema.builtin().type_for("", "v1", "Secret")
CRD = schema.builtin().type_for("apiextensions.k8s.io", "v1", "CustomResourceDefinition")


def crd(props: Any) -> dict[str, Any]:
    return {"spec": {"versions": [{"schema": {"openAPIV3Schema": props}}]}}


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (POD, [], "cannot restore struct from: slice"),
        (POD, {"spec": "x"}, "cannot restore struct from: string"),
        (POD, {"spec": {"containers": {}}}, "cannot restore slice from map"),
        (POD, {"metadata": {"labels": 1}}, "cannot restore map from int64"),
        (POD, {"metadata": {"name": 1}}, "cannot convert int64 to string"),
        (POD, {"metadata": {"name": True}}, "unrecognized type: string"),
        (POD, {"spec": {"restartPolicy": 1}}, "cannot convert int64 to v1.RestartPolicy"),
        (POD, {"spec": {"hostNetwork": 1}}, "unrecognized type: bool"),
        (POD, {"spec": {"priority": "x"}}, "unrecognized type: int32"),
        (POD, {"spec": {"priority": 1.5}}, "cannot convert float64 to int32"),
        (SECRET, {"data": {"a": ["x"]}}, "unrecognized type: uint8"),
        (SECRET, {"data": {"a": [1.5]}}, "cannot convert float64 to uint8"),
        (POD, {"spec": {"overhead": {"cpu": "1x1"}}}, "quantities must match the regular expression "
         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        (POD, {"metadata": {"deletionTimestamp": 1}}, "json: cannot unmarshal number into Go value of type string"),
        (SECRET, {"data": {"a": "%"}}, "error decoding from json: illegal base64 data at input byte 0"),
        (SECRET, {"data": {"a": 1}}, "cannot restore slice from int64"),
        (CRD, crd({"additionalProperties": 1}), "boolean or JSON schema expected"),
        (CRD, crd({"maximum": "1"}), "unrecognized type: float64"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_told_in_the_words_of_the_converter(
    kind: ObjectType, value: Any, message: str
) -> None:
    with pytest.raises(DecodeError) as refusal:
        kind.convert(value)

    assert refusal.value.message == message


def test_unknown_fields_are_sorted_by_their_messages() -> None:
    converted = POD.convert({"z": 1, "spec": {"zz": 1, "containers": [{"name": "c", "b": 1, "a": 1}]}, "a": None})

    assert converted.obj == {"spec": {"containers": [{"name": "c"}]}}
    assert converted.strict_errors == (
        'unknown field "a"',
        'unknown field "spec.containers[0].a"',
        'unknown field "spec.containers[0].b"',
        'unknown field "spec.zz"',
        'unknown field "z"',
    )


def test_integers_are_cut_to_their_size_and_whole_floats_pass() -> None:
    converted = POD.convert({"spec": {"priority": 2**31, "terminationGracePeriodSeconds": 30.0}})

    assert converted.obj == {"spec": {"priority": -(2**31), "terminationGracePeriodSeconds": 30}}
    assert SECRET.convert({"data": {"a": [104.0, 256 + 105, -1, None]}}).obj == {"data": {"a": "aGn/AA=="}}


def test_the_result_is_what_decoding_would_make() -> None:
    value = {
        "metadata": {"labels": {"a": None}, "creationTimestamp": None, "name": ""},
        "spec": {
            "containers": [None, {"resources": {"limits": {"cpu": "1n", "memory": None}}, "args": []}],
            "volumes": [{"emptyDir": {"sizeLimit": "1024Ki"}}],
            "terminationGracePeriodSeconds": 0,
        },
    }

    assert POD.convert(value).obj == POD.decode(value).obj


def test_alternatives_and_free_json_are_read_as_in_decoding() -> None:
    value = crd(
        {"items": {"type": "x", "y": 1}, "dependencies": {"a": ["b"]}, "default": {"b": 1, "a": 2.0}, "not": {}}
    )

    converted = CRD.convert(value)

    assert converted == CRD.decode(value)
    assert converted.obj == CRD.decode(value).obj


def test_what_nests_too_deeply_is_refused() -> None:
    props: dict[str, Any] = {}
    for _ in range(10_000):
        props = {"not": props}

    with pytest.raises(DecodeError, match="exceeded max depth"):
        CRD.convert(crd(props))
