"""Tests the right of a user to read the parameters of admission policies and bindings."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.generic.access.always import AlwaysAllow, AlwaysDeny
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.admissionregistration.validatingadmissionpolicies import VALIDATINGADMISSIONPOLICIES
from aio_apiserver.registry.groups.admissionregistration.validatingadmissionpolicybindings import (
    VALIDATINGADMISSIONPOLICYBINDINGS,
)
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.registry.defaulted import defaulted
from tests.registry.foundations import foundation_on

ALICE = UserInfo(name="alice", uid="u", groups=("devs",))
ADMIN = UserInfo(name="admin", groups=(MASTERS,))
POLICY = {
    "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    "matchConstraints": {
        "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]
    },
    "validations": [{"expression": "true"}],
}
BINDING = {
    "policyName": "a",
    "paramRef": {"name": "p", "namespace": "n", "parameterNotFoundAction": "Deny"},
    "validationActions": ["Deny"],
}


@pytest.fixture
async def factory() -> AsyncIterator[StorageFactory]:
    async with StorageFactory(StorageConfig(), clock=SystemClock()) as opened:
        yield opened


async def create(
    factory: StorageFactory, kind: Kind, spec: dict[str, Any], *, user: UserInfo, authorizer: Authorizer
) -> None:
    store = assemble(environment_of(foundation_on(factory, authorizer=authorizer)))[kind.group]["v1"][kind.plural]
    assert isinstance(store, Store)
    await store.create(Request(user=user, version="v1", warn=print), defaulted(kind, {"spec": spec}), CreateOptions())


async def test_a_user_without_the_right_to_read_the_parameters_is_refused(factory: StorageFactory) -> None:
    with pytest.raises(Invalid) as caught:
        await create(factory, VALIDATINGADMISSIONPOLICIES, POLICY, user=ALICE, authorizer=AlwaysDeny())

    what = '"get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)'
    assert f"user &{{alice u [devs] map[]}} must have {what}" in caught.value.message


@pytest.mark.parametrize(("user", "authorizer"), [(ALICE, AlwaysAllow()), (ADMIN, AlwaysDeny())])
async def test_a_user_with_the_right_to_read_the_parameters_is_accepted(
    factory: StorageFactory, user: UserInfo, authorizer: Authorizer
) -> None:
    await create(factory, VALIDATINGADMISSIONPOLICIES, POLICY, user=user, authorizer=authorizer)
    await create(factory, VALIDATINGADMISSIONPOLICYBINDINGS, BINDING, user=user, authorizer=authorizer)


async def test_a_binding_without_its_policy_needs_the_right_to_read_everything(factory: StorageFactory) -> None:
    with pytest.raises(Invalid, match="unable to get policy a to determine minimum required permissions"):
        await create(factory, VALIDATINGADMISSIONPOLICYBINDINGS, BINDING, user=ALICE, authorizer=AlwaysDeny())
