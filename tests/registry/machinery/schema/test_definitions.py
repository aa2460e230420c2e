"""The data: every minor loads, every type compiles."""

import pytest

from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import UnknownKind, UnknownMinor, definitions, wire
from aio_apiserver.registry.machinery.schema.model import Kind

MINORS = definitions.minors()
POD = "io.k8s.api.core.v1.Pod"


def test_the_minors_are_in_order() -> None:
    assert MINORS[0] == "1.25"
    assert definitions.DEFAULT_MINOR in MINORS
    assert [int(minor.partition(".")[2]) for minor in MINORS] == list(range(25, 25 + len(MINORS)))


def test_an_unknown_minor_is_refused() -> None:
    with pytest.raises(UnknownMinor, match=r"1\.2"):
        schema.builtin("1.2")


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UnknownKind, match="Podd"):
        schema.builtin().type_for("", "v1", "Podd")
    with pytest.raises(UnknownKind, match=r"io\.k8s"):
        schema.builtin().type_of("io.k8s.Podd")


def test_what_the_files_add_is_taken_out() -> None:
    cleaned = definitions.cleaned(definitions.load()[POD])

    assert cleaned["type"] == "object"
    assert cleaned["properties"]["kind"].keys() == {"description", "type"}
    assert cleaned["properties"]["kind"]["type"] == "string"


@pytest.mark.parametrize("minor", MINORS)
def test_every_type_of_every_minor_decodes_and_prints_nothing(minor: str) -> None:
    catalog = schema.builtin(minor)

    for definition in catalog.definitions:
        kind = catalog.type_of(definition)
        if kind.node.kind is Kind.OBJECT:
            printed = kind.canonical(kind.decode({}).obj)
            assert kind.canonical(kind.decode(printed).obj) == printed, definition


def test_a_minor_knows_its_own_kinds_only() -> None:
    assert schema.builtin("1.25").type_for("autoscaling", "v2beta2", "HorizontalPodAutoscaler")
    with pytest.raises(UnknownKind):
        schema.builtin().type_for("autoscaling", "v2beta2", "HorizontalPodAutoscaler")


def test_fields_are_in_the_order_of_go() -> None:
    fields = schema.builtin().type_for("apps", "v1", "Deployment").node.structure

    assert fields is not None
    assert list(fields.fields) == ["kind", "apiVersion", "metadata", "spec", "status"]


def test_members_of_embedded_structs_know_them() -> None:
    layout = wire.layout("io.k8s.api.core.v1.Probe", ["httpGet", "exec", "periodSeconds"])

    assert [(place.name, place.embedded_in) for place in layout] == [
        ("exec", ("ProbeHandler",)),
        ("httpGet", ("ProbeHandler",)),
        ("periodSeconds", ()),
    ]


def test_what_the_wire_does_not_know_comes_last() -> None:
    layout = wire.layout("io.k8s.api.core.v1.ContainerPort", ["aNewOne", "apiVersion", "hostPort", "kind", "name"])

    assert [place.name for place in layout] == ["kind", "apiVersion", "name", "hostPort", "aNewOne"]


def test_wire_facts_are_complete() -> None:
    assert wire.fields(POD)["spec"] == wire.WireField(2, "PodSpec", "optional")


def test_nodes_tell_how_they_merge() -> None:
    structure = schema.builtin().node("io.k8s.api.core.v1.Container").structure

    assert structure is not None
    ports = structure.fields["ports"].node
    assert ports.merge.list_type == "map"
    assert ports.merge.map_keys == ("containerPort", "protocol")
    assert (ports.merge.patch_strategies, ports.merge.patch_merge_key) == (("merge",), "containerPort")
    assert ports.go_type == "[]v1.ContainerPort"
    assert structure.fields["name"].is_required


def test_strategies_may_be_several() -> None:
    structure = schema.builtin().node("io.k8s.api.core.v1.PodSpec").structure

    assert structure is not None
    assert structure.fields["volumes"].node.merge.patch_strategies == ("merge", "retainKeys")


def test_kinds_know_their_descriptions() -> None:
    node = schema.builtin().node(POD)

    assert node.description
    assert node.enum == ()
