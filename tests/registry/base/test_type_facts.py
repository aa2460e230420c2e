"""The facts of types that stand beside the kinds of their groups."""

import msgspec
import pytest

from aio_apiserver.registry.base import group_files, type_facts
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.other_versions import are_one_kind, is_old
from aio_apiserver.registry.base.schemes import scheme_of
from aio_apiserver.registry.controlplane.providers import PROVIDERS
from aio_apiserver.registry.machinery.schema import definitions


def test_a_type_has_the_facts_of_its_group() -> None:
    assert type_facts.of_type("io.k8s.api.core.v1.ContainerPort").defaults == {"protocol": "TCP"}


def test_a_version_adds_to_what_is_true_of_all() -> None:
    stable, beta = (type_facts.of_type(f"io.k8s.api.discovery.{one}.EndpointPort") for one in ("v1", "v1beta1"))

    assert stable.pointers["port"] != beta.pointers.get("port")


@pytest.mark.parametrize("definition", ["io.k8s.api.core.v1.Nothing", "io.k8s.api.nowhere.v1.Pod", "Pod"])
def test_a_type_without_a_row_has_no_facts(definition: str) -> None:
    assert type_facts.of_type(definition) == type_facts.TypeFacts()


def test_each_group_has_a_folder_whose_facts_are_its_own() -> None:
    groups = {provider.group.name for provider in PROVIDERS}

    assert {name.partition(".")[0] or "core" for name in groups} == group_files.folders()
    assert {type_facts.of_group(name).group for name in groups if type_facts.of_group(name).types} <= groups


def test_every_row_is_about_a_type_that_is_published() -> None:
    published = {name.rpartition(".")[2] for minor in definitions.minors() for name in definitions.load(minor)}
    inner = {"List", "PodStatusResult", "RangeAllocation", "SerializedReference"}

    assert {name.partition("@")[0].rpartition(".")[2] for name, _ in type_facts.all_types()} <= published | inner


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `pointer`"):
        msgspec.json.decode(b'{"types": {"Pod": {"pointer": {}}}}', type=type_facts.GroupFacts)


def test_a_group_of_a_client_has_no_facts_of_a_built_in_one() -> None:
    assert scheme_of("apiextensions.k8s.io") != scheme_of("apiextensions.example.com") == scheme_of("apps")
    assert type_facts.of_group("apps.example.com").types == {}


def test_old_versions_are_those_that_kinds_declare() -> None:
    assert is_old(GroupVersionKind("extensions", "v1beta1", "Deployment"))
    assert is_old(GroupVersionKind("", "v1", "List"))
    assert not is_old(GroupVersionKind("apps", "v1", "Deployment"))


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [(("", "Event"), ("events.k8s.io", "Event"), True), (("", "Pod"), ("events.k8s.io", "Pod"), False)],
)
def test_a_kind_of_two_groups_is_one(first: tuple[str, str], second: tuple[str, str], is_one: bool) -> None:
    kinds = [GroupVersionKind(group, "v1", kind) for group, kind in (first, second)]

    assert are_one_kind(*kinds) is are_one_kind(*reversed(kinds)) is is_one
