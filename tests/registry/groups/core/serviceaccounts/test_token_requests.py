"""Tests token requests: their managed fields and bound objects."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.controlplane.assembly import environment_of
from aio_apiserver.registry.generic.access.service_account_claims import Bound
from aio_apiserver.registry.generic.access.token_issuer import Issued, TokenIssuer
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts_token import TokenREST
from tests.registry.foundations import foundation

_PLUGINS = ("NamespaceLifecycle", "ResourceQuota")
REQUEST = Request(
    user=UserInfo(name="root", groups=(MASTERS,)),
    version="v1",
    warn=lambda _warning: None,
    namespace="ns",
    manager="me",
)


class Unsigned(TokenIssuer, frozen=True, kw_only=True):
    """An issuer whose tokens are not signed."""

    async def issue(self, bound: Bound, **_: Any) -> Issued:
        return Issued(f"token of {bound.account.name}", "id")


@pytest.fixture
async def tokens() -> AsyncIterator[TokenREST]:
    config = Config(disabled_admission=_PLUGINS)
    async with foundation(clock=ManualClock(), config=config, issuer=Unsigned()) as given:
        for kind, name, more in (
            (SERVICEACCOUNTS, "bot", {}),
            (SERVICEACCOUNTS, "other", {}),
            (PODS, "web", {"spec": {"serviceAccountName": "bot"}}),
        ):
            obj = {"metadata": {"name": name, "namespace": "ns", "uid": f"uid-of-{name}"}, **more}
            await given.writable_storage_for(resource_of(kind)).create(f"ns/{name}", obj)
        yield TokenREST(environment_of(given))


async def ask(tokens: TokenREST, spec: Object, account: str = "bot") -> Object:
    """Send a decoded request: decoding gives the expiration its default."""
    decoded = {"metadata": {}, "spec": {"expirationSeconds": 3600, **spec}}
    return await tokens.create(REQUEST, decoded, CreateOptions(), name=account)


async def test_the_client_owns_the_expiration_in_managed_fields(tokens: TokenREST) -> None:
    answer = await ask(tokens, {})

    (entry,) = answer["metadata"]["managedFields"]
    assert (entry["manager"], entry["subresource"]) == ("me", "token")
    assert entry["fieldsV1"] == {"f:spec": {"f:expirationSeconds": {}}}


@pytest.mark.parametrize(
    ("account", "reference", "message"),
    [
        ("bot", {"kind": "Pod", "apiVersion": "v1"}, "Name parameter required."),
        ("bot", {"kind": "Job", "apiVersion": "a/b/c", "name": "x"}, "cannot bind token to object of type /, Kind=Job"),
        (
            "other",
            {"kind": "Pod", "apiVersion": "v1", "name": "web", "uid": "another"},
            'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.',
        ),
    ],
)
async def test_a_token_can_be_bound_to_existing_objects(
    tokens: TokenREST, account: str, reference: dict[str, str], message: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        await ask(tokens, {"boundObjectRef": reference}, account)

    assert caught.value.message == message
