"""The kinds whose stored objects may have fields that a minor does not know."""

from aio_apiserver.registry.base import minors
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane.providers import providers_of
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.resource import adapter, resource_of
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.storage.csidrivers import CSIDRIVERS
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import unknown_fields


def test_the_table_has_the_kinds_whose_fields_vary_between_minors() -> None:
    vary = {kind.resource for minor in minors.KNOWN.values() for kind in kinds_of(minor) if has_unknown(kind, minor)}

    assert vary == {kind.resource for minor in minors.KNOWN.values() for kind in kinds_of(minor) if drops(kind, minor)}


def kinds_of(minor: Minor) -> list[Kind]:
    providers = [one for one in providers_of(minor) if isinstance(one, KindsProvider)]
    return [kind for provider in providers for kind in provider.kinds if kind.versions]


def drops(kind: Kind, minor: Minor) -> bool:
    return adapter(minor, schema.builtin(minor.text))(resource_of(kind)).drop_unknown is not None


def has_unknown(kind: Kind, minor: Minor) -> bool:
    of_type = schema.builtin(minor.text).type_for(kind.group, kind.stored_version or kind.hub_version, kind.kind)
    return unknown_fields.compiled(of_type.node) is not None


def test_a_resource_is_that_of_the_minor_whichever_kind_opens_its_storage() -> None:
    for_1_36, for_1_37 = (adapter(minors.parse(text), schema.builtin(text)) for text in ("1.36", "1.37"))

    assert for_1_36(resource_of(CSIDRIVERS)).restore is None
    assert for_1_37(resource_of(CSIDRIVERS)).restore is not None
