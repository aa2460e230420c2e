"""Tokens of service accounts, of secrets, of joining nodes, and of external issuers."""

import base64
import time
from collections.abc import AsyncIterator
from typing import Any

import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.access import signing_keys
from aio_apiserver.registry.generic.access.authentication import BadToken, KnownTokens, TokenAuthenticator, Tokens
from aio_apiserver.registry.generic.access.service_account_claims import Bound, Reference, claims_of
from aio_apiserver.registry.generic.access.signing_keys import SigningKeys, VerifyingKey
from aio_apiserver.registry.generic.access.token_issuer import ISSUER, TokenIssuer
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.bound_objects import BoundObjects
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.plugins.authentication import oidc
from aio_apiserver.registry.plugins.authentication.bootstrap_tokens import BootstrapTokens
from aio_apiserver.registry.plugins.authentication.legacy_tokens import LEGACY_ISSUER, LegacyTokens
from aio_apiserver.registry.plugins.authentication.oidc import Issuer, IssuerKeys, OIDCTokens
from aio_apiserver.registry.plugins.authentication.service_account_tokens import ServiceAccountTokens, SignedTokens
from aio_apiserver.registry.plugins.authorization import config_expressions
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import Storage

OWN = (ISSUER,)
KEY = ec.generate_private_key(ec.SECP256R1())
KEYS = SigningKeys(lambda: signing_keys.of(KEY))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(time.time())


@pytest.fixture
async def factory(clock: ManualClock) -> AsyncIterator[StorageFactory]:
    async with StorageFactory(StorageConfig(), clock=clock) as opened:
        await accounts_of(opened).create("ns/bot", {"metadata": {"name": "bot", "namespace": "ns", "uid": "sa-1"}})
        yield opened


def accounts_of(factory: StorageFactory) -> Storage:
    return factory.storage_for(resource_of(SERVICEACCOUNTS))


def secrets_of(factory: StorageFactory) -> Storage:
    return factory.storage_for(resource_of(SECRETS))


def secret(name: str, namespace: str, data: dict[str, str], **more: Any) -> dict[str, Any]:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return {"metadata": {"name": name, "namespace": namespace, "uid": f"uid-of-{name}"}, "data": encoded, **more}


async def issued(clock: ManualClock, *, seconds: int = 3600, audiences: tuple[str, ...] = OWN, **bound: Any) -> str:
    whose = Bound(namespace="ns", account=Reference("bot", "sa-1"), **bound)
    issuer = TokenIssuer(keys=KEYS)
    return (await issuer.issue(whose, audiences=audiences, now=int(clock.now()), seconds=seconds)).token


def verifying(factory: StorageFactory, clock: ManualClock) -> ServiceAccountTokens:
    return ServiceAccountTokens(SignedTokens(KEYS, OWN), OWN, BoundObjects(factory.storage_for), clock)


async def refused(authenticator: TokenAuthenticator, token: str, audiences: tuple[str, ...] = OWN) -> str:
    with pytest.raises(BadToken) as raised:
        await authenticator.authenticate(token, audiences)
    return str(raised.value)


async def test_a_service_account_is_known_by_its_token(factory: StorageFactory, clock: ManualClock) -> None:
    found = await verifying(factory, clock).authenticate(await issued(clock), OWN)

    assert found is not None
    assert (found.user.name, found.user.uid) == ("system:serviceaccount:ns:bot", "sa-1")
    assert found.user.groups == ("system:serviceaccounts", "system:serviceaccounts:ns")


async def test_a_token_ends(factory: StorageFactory, clock: ManualClock) -> None:
    tokens, token = verifying(factory, clock), await issued(clock, seconds=600)
    await tokens.authenticate(token, OWN)

    clock.advance(600 + 61)

    assert await refused(tokens, token) == "service account token has expired"


async def test_a_token_is_for_its_audiences_alone(factory: StorageFactory, clock: ManualClock) -> None:
    token = await issued(clock, audiences=("vault",))

    why = await refused(verifying(factory, clock), token)

    assert why == f'token audiences ["vault"] is invalid for the target audiences ["{ISSUER}"]'


async def test_a_token_ends_with_its_account(factory: StorageFactory, clock: ManualClock) -> None:
    tokens, token = verifying(factory, clock), await issued(clock)
    await tokens.authenticate(token, OWN)
    await accounts_of(factory).delete("ns/bot")

    assert await refused(tokens, token) == 'serviceaccounts "bot" not found'

    await accounts_of(factory).create("ns/bot", {"metadata": {"name": "bot", "namespace": "ns", "uid": "sa-2"}})

    assert await refused(tokens, token) == "service account UID (sa-2) does not match claim (sa-1)"


async def test_a_token_ends_with_the_object_that_it_is_bound_to(factory: StorageFactory, clock: ManualClock) -> None:
    await secrets_of(factory).create("ns/key", secret("key", "ns", {}))
    tokens, token = verifying(factory, clock), await issued(clock, secret=Reference("key", "uid-of-key"))
    await tokens.authenticate(token, OWN)

    await secrets_of(factory).delete("ns/key")

    assert await refused(tokens, token) == "service account token has been invalidated"


@pytest.mark.parametrize("key", [ec.generate_private_key(ec.SECP256R1())])
async def test_a_token_of_another_key_is_refused(
    factory: StorageFactory, clock: ManualClock, key: signing_keys.PrivateKey
) -> None:
    mine = SigningKeys(lambda: signing_keys.of(key))
    bound = Bound(namespace="ns", account=Reference("bot", "sa-1"))
    made = await TokenIssuer(keys=mine).issue(bound, audiences=OWN, now=int(clock.now()), seconds=3600)

    assert await refused(verifying(factory, clock), made.token) == "invalid signature, no keys found"


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
async def test_a_token_that_is_signed_with_what_is_public_is_refused(
    factory: StorageFactory, clock: ManualClock, algorithm: str
) -> None:
    claims = jwt.decode(await issued(clock), options={"verify_signature": False})
    header = {"kid": VerifyingKey(KEY.public_key()).id}
    with_what = "x" * 32 if algorithm == "HS256" else ""
    token = jwt.encode(claims, with_what, algorithm=algorithm, headers=header)

    assert await refused(verifying(factory, clock), token) == "go-jose/go-jose: error in cryptographic primitive"


async def test_a_signature_that_is_no_text_makes_no_token(factory: StorageFactory, clock: ManualClock) -> None:
    token = (await issued(clock)).rpartition(".")[0]

    assert await verifying(factory, clock).authenticate(f"{token}.%%%", OWN) is None


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "a.b.c.d", "é.é.é", "e30.e30.e30"])
async def test_what_is_no_token_of_ours_is_left_to_others(
    factory: StorageFactory, clock: ManualClock, token: str
) -> None:
    assert await verifying(factory, clock).authenticate(token, OWN) is None


async def test_a_token_of_a_secret_holds_while_the_secret_holds_it(factory: StorageFactory, clock: ManualClock) -> None:
    prefix = "kubernetes.io/serviceaccount/"
    claims = {
        "iss": LEGACY_ISSUER,
        "sub": "system:serviceaccount:ns:bot",
        f"{prefix}namespace": "ns",
        f"{prefix}secret.name": "old",
        f"{prefix}service-account.name": "bot",
        f"{prefix}service-account.uid": "sa-1",
    }
    token = signing_keys.of(KEY).sign(claims)
    alive = BoundObjects(factory.storage_for)
    tokens = LegacyTokens(SignedTokens(KEYS, (LEGACY_ISSUER,)), OWN, alive, factory.storage_for, clock)
    await secrets_of(factory).create("ns/old", secret("old", "ns", {"token": token}))

    found = await tokens.authenticate(token, OWN)
    noted = (await secrets_of(factory).get("ns/old")).decode()["metadata"]["labels"]
    await secrets_of(factory).delete("ns/old")

    assert found is not None
    assert found.user.name == "system:serviceaccount:ns:bot"
    assert list(noted) == ["kubernetes.io/legacy-token-last-used"]
    assert await refused(tokens, token) == "Token has been invalidated"


JOINING = {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true"}


@pytest.mark.parametrize(
    ("change", "is_accepted"),
    [
        ({}, True),
        ({"auth-extra-groups": "system:bootstrappers:b,system:bootstrappers:a"}, True),
        ({"auth-extra-groups": "system:masters"}, False),
        ({"usage-bootstrap-authentication": "false"}, False),
        ({"token-secret": "0123456789abcdee"}, False),
        ({"token-id": "abcdeg"}, False),
        ({"expiration": "2001-01-01T00:00:00Z"}, False),
        ({"expiration": "2999-01-01T00:00:00Z"}, True),
        ({"expiration": "soon"}, False),
    ],
)
async def test_a_bootstrap_token_counts_if_its_secret_is_wholly_right(
    factory: StorageFactory, clock: ManualClock, change: dict[str, str], *, is_accepted: bool
) -> None:
    written = secret(
        "bootstrap-token-abcdef", "kube-system", {**JOINING, **change}, type="bootstrap.kubernetes.io/token"
    )
    await secrets_of(factory).create("kube-system/bootstrap-token-abcdef", written)

    tokens = BootstrapTokens(OWN, BoundObjects(factory.storage_for), clock)
    found = await tokens.authenticate("abcdef.0123456789abcdef", OWN)

    assert (found is not None) is is_accepted
    if found is not None:
        assert (found.user.name, found.user.groups[0]) == ("system:bootstrap:abcdef", "system:bootstrappers")


URL = "https://issuer.example"
ELSEWHERE = ec.generate_private_key(ec.SECP256R1())


class ExternalIssuer:
    """An external issuer: its documents."""

    def __init__(self) -> None:
        self.key = ELSEWHERE
        self.asked: list[str] = []

    async def fetch(self, url: str) -> bytes:
        self.asked.append(url)
        if url.endswith("/keys"):
            return orjson.dumps({"keys": [VerifyingKey(self.key.public_key()).as_jwk()]})
        return orjson.dumps({"issuer": URL, "jwks_uri": f"{URL}/keys"})

    def token(self, clock: ManualClock, **claims: Any) -> str:
        given = {"iss": URL, "aud": "cluster", "sub": "jane", "exp": clock.now() + 60, **claims}
        return signing_keys.of(self.key).sign(given)


def trusting(external: ExternalIssuer, clock: ManualClock, **settings: Any) -> OIDCTokens:
    given = {"username": oidc.name_from("sub", ""), **settings}
    issuer = Issuer(url=URL, audiences=("cluster",), algorithms=("ES256",), **given)
    return OIDCTokens(issuer, IssuerKeys(issuer, external.fetch, clock), OWN, clock)


async def test_an_issuers_claims_become_a_user(clock: ManualClock) -> None:
    external = ExternalIssuer()
    tokens = trusting(external, clock, username=oidc.name_from("sub", "oidc:"), groups=oidc.groups_from("roles", "r:"))

    found = await tokens.authenticate(external.token(clock, roles=["dev", "ops"]), OWN)

    assert found is not None
    assert (found.user.name, found.user.groups) == ("oidc:jane", ("r:dev", "r:ops"))


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"aud": "other"}, "expected audience"),
        ({"exp": 1}, "token is expired"),
        ({"exp": None}, "token is expired"),
        ({"sub": ""}, "claim not present"),
        ({"tenant": "b"}, "required claim tenant value does not match"),
    ],
)
async def test_claims_that_do_not_fit_are_refused(clock: ManualClock, claims: dict[str, Any], why: str) -> None:
    external = ExternalIssuer()
    tokens = trusting(external, clock, checks=[oidc.requiring("tenant", "a")])

    assert why in await refused(tokens, external.token(clock, **{"tenant": "a", **claims}))


async def test_an_unverified_email_address_names_no_user(clock: ManualClock) -> None:
    external = ExternalIssuer()
    token = external.token(clock, email="jane@example.com", email_verified=False)

    why = await refused(trusting(external, clock, username=oidc.name_from("email", "")), token)

    assert why == "oidc: email not verified"


async def test_expressions_make_and_check_users(clock: ManualClock) -> None:
    external = ExternalIssuer()
    tokens = trusting(
        external,
        clock,
        username=config_expressions.text_of_claims("claims.sub + '@' + claims.tenant"),
        groups=config_expressions.texts_of_claims("claims.roles.filter(r, r != 'root')"),
        extra={"example.com/tenant": config_expressions.texts_of_claims("claims.tenant")},
        checks=[config_expressions.check_of_claims("has(claims.tenant)", "no tenant")],
        user_checks=[config_expressions.check_of_user("!user.username.startsWith('system:')", "reserved")],
    )

    found = await tokens.authenticate(external.token(clock, tenant="t", roles=["dev", "root"]), OWN)
    without = await refused(tokens, external.token(clock, roles=[]))
    reserved = await refused(tokens, external.token(clock, sub="system:admin", tenant="t", roles=[]))

    assert found is not None
    assert (found.user.name, found.user.groups) == ("jane@t", ("dev",))
    assert found.user.extra["example.com/tenant"] == ("t",)
    assert without.endswith("no tenant")
    assert reserved.endswith("reserved")


@pytest.mark.parametrize(
    ("conditions", "applies"),
    [
        ([], True),
        (["request.user == 'alice'"], True),
        (["request.user == 'bob'"], False),
        (["has(request.resourceAttributes)", "request.resourceAttributes.namespace == 'ns'"], True),
        (["'devs' in request.groups", "has(request.nonResourceAttributes)"], False),
        (["request.uid == 'x'", "request.user == 'bob'"], False),
    ],
)
def test_match_conditions_all_have_to_hold(conditions: list[str], *, applies: bool) -> None:
    spec = {"user": "alice", "groups": ["devs"], "resourceAttributes": {"namespace": "ns", "verb": "get"}}

    assert config_expressions.match_conditions(conditions)(spec) is applies


def test_a_match_condition_that_fails_decides_nothing() -> None:
    applies = config_expressions.match_conditions(["request.resourceAttributes.namespace == 'ns'"])

    with pytest.raises(ValueError, match="cel evaluation error"):
        applies({"user": "alice", "nonResourceAttributes": {"path": "/"}})


@pytest.mark.parametrize("text", ["request.", "request.colour == 'red'", "request.user", "claims.sub == 'x'"])
def test_a_match_condition_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"compilation failed|must evaluate to bool"):
        config_expressions.match_conditions([text])


async def test_keys_are_fetched_once_and_again_for_a_new_one(clock: ManualClock) -> None:
    external = ExternalIssuer()
    tokens = trusting(external, clock)
    for _ in range(3):
        await tokens.authenticate(external.token(clock), OWN)
    fetched_first = len(external.asked)
    external.key = ec.generate_private_key(ec.SECP256R1())

    too_soon = await refused(tokens, external.token(clock))
    clock.advance(11)
    found = await tokens.authenticate(external.token(clock), OWN)

    assert (fetched_first, len(external.asked)) == (2, 4)
    assert "no key fits" in too_soon
    assert found is not None


async def test_all_that_is_wrong_with_a_token_is_told(factory: StorageFactory, clock: ManualClock) -> None:
    known = KnownTokens({"letmein": UserInfo(name="jane")}, OWN)
    tokens = Tokens(known, [verifying(factory, clock)], OWN)

    found = await tokens.authenticate("letmein", OWN)

    assert found.user.groups == ("system:authenticated",)
    assert await refused(tokens, "letmein", ("vault",)) == "invalid bearer token"
    assert (await refused(tokens, await issued(clock), ("x",))).startswith("[invalid bearer token, token audiences")


async def test_a_token_that_should_have_been_replaced_is_noted(factory: StorageFactory, clock: ManualClock) -> None:
    bound = Bound(namespace="ns", account=Reference("bot", "sa-1"))
    now = int(clock.now())
    claims = claims_of(bound, issuer=ISSUER, audiences=OWN, now=now, seconds=600, warn_after=60)
    token = (await KEYS.get()).sign(claims)
    tokens = verifying(factory, clock)

    early = await tokens.authenticate(token, OWN)
    clock.advance(70)
    late = await tokens.authenticate(token, OWN)

    assert early is not None
    assert late is not None
    assert early.annotations == {}
    assert late.annotations == {
        "authentication.k8s.io/stale-token": "subject: system:serviceaccount:ns:bot, "
        "seconds after warning threshold: 10"
    }
