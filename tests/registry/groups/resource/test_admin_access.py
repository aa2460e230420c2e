"""Tests that claims have admin access in labelled namespaces."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.groups.resource.resourceclaims import RESOURCECLAIMS
from tests.registry.defaulted import defaulted
from tests.registry.foundations import foundation

REQUEST = {"name": "r", "exactly": {"deviceClassName": "gpu", "adminAccess": True}}
USER = UserInfo(name="alice")


@pytest.fixture
async def stores() -> AsyncIterator[tuple[Store, Store]]:
    async with foundation(config=Config(disabled_admission=("ResourceQuota",))) as given:
        groups = assemble(environment_of(given))
        namespaces, claims = groups[""]["v1"]["namespaces"], groups["resource.k8s.io"]["v1"]["resourceclaims"]
        assert isinstance(namespaces, Store)
        assert isinstance(claims, Store)
        yield namespaces, claims


@pytest.mark.parametrize(
    ("labels", "is_allowed"), [({}, False), ({"resource.kubernetes.io/admin-access": "true"}, True)]
)
async def test_admin_access_needs_the_label_of_the_namespace(
    stores: tuple[Store, Store], labels: dict[str, str], is_allowed: bool
) -> None:
    namespaces, claims = stores
    namespace = defaulted(NAMESPACES, {"metadata": {"name": "n", "labels": labels}})
    await namespaces.create(Request(user=USER, version="v1", warn=print), namespace, CreateOptions())
    claim = defaulted(RESOURCECLAIMS, {"spec": {"devices": {"requests": [REQUEST]}}})
    creating = claims.create(Request(user=USER, version="v1", warn=print, namespace="n"), claim, CreateOptions())

    if is_allowed:
        await creating
    else:
        with pytest.raises(Invalid, match="admin access to devices requires"):
            await creating
