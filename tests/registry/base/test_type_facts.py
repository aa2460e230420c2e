"""The facts of types that stand beside the kinds of their groups."""

import msgspec
import pytest

from aio_apiserver.registry.base import group_files, schemes, type_facts
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.other_versions import are_one_kind, is_old
from aio_apiserver.registry.controlplane.providers import PROVIDERS
from aio_apiserver.registry.machinery.schema import definitions

MINOR = definitions.DEFAULT_MINOR


def test_a_type_has_the_facts_of_its_group() -> None:
    assert type_facts.of_type("io.k8s.api.core.v1.ContainerPort", MINOR).defaults == {"protocol": "TCP"}


def test_a_version_has_facts_of_its_own() -> None:
    stable, beta = (type_facts.of_type(f"io.k8s.api.resource.{one}.DeviceRequest", "1.36") for one in ("v1", "v1beta1"))

    assert (stable.enums.get("allocationMode"), beta.enums["allocationMode"]) == (None, ["All", "ExactCount"])


def test_a_minor_has_facts_of_its_own() -> None:
    old, new = (type_facts.of_type("io.k8s.api.core.v1.Toleration", minor).enums for minor in ("1.34", "1.35"))

    assert (old["operator"], new["operator"]) == (["Equal", "Exists"], ["Equal", "Exists", "Gt", "Lt"])
    assert old["effect"] == new["effect"]


def test_a_minor_takes_a_fact_away() -> None:
    old, new = (type_facts.of_type("io.k8s.api.resource.v1beta1.DeviceRequest", minor) for minor in ("1.34", "1.35"))

    assert ("allocationMode" in old.enums, "allocationMode" in new.enums) == (False, True)


@pytest.mark.parametrize("definition", ["io.k8s.api.core.v1.Nothing", "io.k8s.api.nowhere.v1.Pod", "Pod"])
def test_a_type_without_a_row_has_no_facts(definition: str) -> None:
    assert type_facts.of_type(definition, MINOR) == type_facts.TypeFacts()


def test_each_group_has_a_folder() -> None:
    groups = {provider.group.name for provider in PROVIDERS}

    assert {name.partition(".")[0] or "core" for name in groups} == group_files.folders()


def test_every_row_is_about_a_type_that_is_published_or_read() -> None:
    published = {name.rpartition(".")[2] for minor in definitions.minors() for name in definitions.load(minor)}
    read = {kind for minor in definitions.minors() for _, kind in type_facts.old_versions(minor)}

    assert set(type_facts.all_names()) <= published | read


def test_an_unknown_fact_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `pointer`"):
        msgspec.json.decode(b'{"Pod": {"pointer": {}}}', type=dict[str, type_facts.TypeRow])


def test_a_group_of_a_client_has_another_scheme_than_a_built_in_one() -> None:
    assert schemes.of_group("apiextensions.k8s.io") != schemes.of_group("apiextensions.example.com")
    assert schemes.of_group("apiextensions.example.com") == schemes.of_group("apps")


@pytest.mark.parametrize(
    ("minor", "place"),
    [
        ((1, 33), "pkg/apiserver/customresource_handler.go:725"),
        ((1, 35), "pkg/apiserver/customresource_handler.go:781"),
        ((1, 37), "k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"),
    ],
)
def test_a_scheme_stands_in_another_line_in_another_minor(minor: tuple[int, int], place: str) -> None:
    assert schemes.place_of(schemes.CUSTOM_RESOURCES, minor) == place


def test_old_versions_are_those_that_are_registered_and_not_served() -> None:
    assert is_old(GroupVersionKind("extensions", "v1beta1", "Deployment"), MINOR)
    assert is_old(GroupVersionKind("", "v1", "List"), MINOR)
    assert not is_old(GroupVersionKind("apps", "v1", "Deployment"), MINOR)


def test_an_old_version_ends_with_a_minor() -> None:
    kind = GroupVersionKind("autoscaling", "v2beta2", "HorizontalPodAutoscaler")

    assert [is_old(kind, minor) for minor in ("1.35", "1.36")] == [True, False]


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        (("", "Event"), ("events.k8s.io", "Event"), True),
        (("extensions", "Ingress"), ("networking.k8s.io", "Ingress"), True),
        (("", "Pod"), ("events.k8s.io", "Pod"), False),
    ],
)
def test_a_kind_of_two_groups_is_one(first: tuple[str, str], second: tuple[str, str], is_one: bool) -> None:
    kind, other = (GroupVersionKind(group, "v1", name) for group, name in (first, second))

    assert are_one_kind(kind, other, MINOR) is are_one_kind(other, kind, MINOR) is is_one
