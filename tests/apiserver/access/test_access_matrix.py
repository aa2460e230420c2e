"""Authorization by user, verb, resource, scope and spelling of the path, against the rules as documented.

The meaning of a case is known from how its path was built, so that the test parses no path. A response to a path of
unknown meaning is checked by the objects in it.
"""

import itertools
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from msgspec.structs import replace

from aio_apiserver.apiserver import app
from aio_apiserver.apiserver.access.attributes import attributes_of
from aio_apiserver.apiserver.filters.authorization import with_authorization
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.wire import request_info, urls
from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.context import Filter, Handler, RequestContext, compose
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.generic.access.authorizer import Attributes, Decision, Rules
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.groups.rbac.policy import RBACPolicy
from aio_apiserver.registry.plugins.authorization.rbac import decide
from tests.apiserver.serving import as_admin, ask, running
from tests.registry.plugins.authorization.test_rbac import NAMESPACES, USERS, World

CASES = 10_000
WORLDS = 8
WILD_CASES = 1_000


class Resource(NamedTuple):
    """A resource. `prefix` is the path of its group."""

    prefix: str
    group: str
    plural: str
    subresource: str = ""


RESOURCES = (
    Resource("/api/v1", "", "pods"),
    Resource("/api/v1", "", "pods", "log"),
    Resource("/api/v1", "", "secrets"),
    Resource("/api/v1", "", "nodes"),
    Resource("/apis/apps/v1", "apps", "deployments"),
    Resource("/apis/apps/v1", "apps", "deployments", "scale"),
    Resource("/apis/example.com/v1", "example.com", "unknown"),
)
METHODS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
OF_COLLECTIONS = {"GET": "list", "HEAD": "list", "DELETE": "deletecollection"}
QUERIES = ("", "?watch=1", "?watch=true", "?watch=0", "?fieldSelector=metadata.name%3Done", "?labelSelector=a%3Db")


def plain(path: str, _pick: random.Random) -> str:
    return path


def with_end(path: str, _pick: random.Random) -> str:
    return f"{path}/"


def escaped(path: str, pick: random.Random) -> str:
    """Some letters percent-encoded."""
    return "".join(f"%{ord(one):02x}" if one != "/" and pick.random() < 0.3 else one for one in path)


def shouted(path: str, pick: random.Random) -> str:
    """The same with upper case digits."""
    return "".join(f"%{ord(one):02X}" if one != "/" and pick.random() < 0.1 else one for one in path)


SPELLINGS = (plain, with_end, escaped, shouted)
"""Spellings of the same path."""


class Case(NamedTuple):
    """One request, and its meaning."""

    method: str
    target: str
    asked: Attributes


SHAPES = [
    shape
    for shape in itertools.product(USERS, METHODS, RESOURCES, NAMESPACES, ("", "one", "two"), QUERIES, SPELLINGS)
    if shape[4] or not shape[2].subresource
]


def cases(pick: random.Random) -> Iterator[Case]:
    for user, method, resource, namespace, name, query, spell in pick.sample(SHAPES, CASES // WORLDS):
        where = f"/namespaces/{namespace}" if namespace else ""
        parts = [resource.plural, name, resource.subresource]
        path = f"{resource.prefix}{where}/{'/'.join(filter(None, parts))}"
        verb, wanted = METHODS[method], name
        if not name:
            verb = OF_COLLECTIONS.get(method, verb)
            if verb == "list":
                verb = "watch" if query in ("?watch=1", "?watch=true") else verb
                wanted = "one" if query.startswith("?fieldSelector") else ""
        asked = Attributes(user, verb, resource.group, "v1", resource.plural, resource.subresource, namespace, wanted)
        yield Case(method, spell(path, pick) + query, asked)


def read(user: UserInfo, method: str, target: str) -> Attributes:
    """The attributes that the server reads from a request."""
    path, query = urls.parse(target)
    return attributes_of(user, request_info.resolve(method, path, query), query)


def test_every_decision_is_that_of_the_written_rules_however_the_path_is_spelled() -> None:
    wrong = []
    for seed in range(WORLDS):
        world, pick = World(seed), random.Random(seed)
        policy = world.policy()
        for case in cases(pick):
            is_allowed = decide(policy, read(case.asked.user, case.method, case.target)).is_allowed
            if is_allowed is not world.allows(case.asked):
                wrong.append(case)

    assert wrong == []


class ByPolicy:
    """An Authorizer with a given policy."""

    def __init__(self, policy: RBACPolicy) -> None:
        self._policy = policy

    async def authorize(self, attributes: Attributes) -> Decision:
        return decide(self._policy, attributes)

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()


OBJECTS = [
    ("", "namespaces", "", "a"),
    ("", "namespaces", "", "b"),
    ("", "nodes", "", "one"),
    *(("", kind, place, name) for kind in ("secrets", "configmaps") for place in "ab" for name in ("one", "two")),
]


def mark(resource: str, namespace: str, name: str) -> str:
    """The mark of an object, which shows in every response with the object."""
    return f"mark.{resource}.{namespace or 'none'}.{name}.end"


async def make_objects(started: Server) -> None:
    for _, resource, namespace, name in OBJECTS:
        where = f"/namespaces/{namespace}" if namespace else ""
        body = {"metadata": {"name": name, "labels": {"mark": mark(resource, namespace, name)}}}
        path = f"/api/v1{where}/{resource}"
        headers = {"Content-Type": "application/json"}
        answer = await ask(
            started.secure.port, path, method="POST", body=orjson.dumps(body), headers=headers, tls=as_admin(started)
        )
        assert answer.status == 201, answer.text


WILD = (
    ("namespaces/b", "namespaces/a/../b"),
    ("namespaces/b", "namespaces/a%2f..%2fb"),
    ("namespaces/b", "namespaces/a/namespaces/b"),
    ("namespaces/b", "namespaces/a//namespaces/b"),
    ("namespaces/", "namespaces//"),
    ("namespaces/b/", "namespaces/a/"),
    ("namespaces/b/", ""),
    ("namespaces/b", "Namespaces/b"),
    ("/api/v1/", "/api/v1/watch/"),
    ("/api/v1/", "/api/v1/proxy/"),
    ("/api/v1/", "/api/v1/./"),
    ("/api/v1/", "/api//v1/"),
    ("/api/v1/", "//api/v1/"),
    ("/api/v1/", "/API/v1/"),
    ("/api/v1/", "/apis//v1/"),
    ("/api/v1/", "/api/v1/namespaces/a/"),
    ("/one", "/two/../one"),
    ("/one", "/two%2f..%2fone"),
    ("/one", "/one%00"),
    ("/one", "/one/status"),
    ("/one", "/one/"),
    ("/one", "//one"),
    ("/one", "/%6fne"),
)
WILD_QUERIES = (
    "",
    "?fieldSelector=metadata.name%3Done",
    "?fieldSelector=metadata.name%3Done,metadata.name%3Done",
    "?fieldSelector=metadata.name!%3Dtwo",
    "?fieldSelector=metadata.namespace%3Da",
    "?limit=1",
)


def wild_targets() -> Iterator[str]:
    for _, resource, namespace, name in OBJECTS:
        where = f"namespaces/{namespace}/" if namespace else ""
        for path in (f"/api/v1/{where}{resource}/{name}", f"/api/v1/{where}{resource}"):
            for (old, new), query in itertools.product(WILD, WILD_QUERIES):
                if old in path:
                    yield path.replace(old, new, 1) + query


def request_of(target: str) -> web.BaseRequest:
    request: Any = make_mocked_request("GET", target, writer=SimpleNamespace(output_size=0))
    return request  # type: ignore[no-any-return]


def as_user(handler: Handler, user: UserInfo) -> Handler:
    async def known(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return await handler(request, replace(context, user=user))

    return known


def may_see(world: World, user: UserInfo, resource: str, namespace: str, name: str) -> bool:
    """Whether any right of the user shows an object: by its name, or in a list."""
    places = {namespace, ""} if namespace else {"", *([name] if resource == "namespaces" else [])}
    asked = [
        Attributes(user, verb, "", "v1", resource, "", place, wanted)
        for verb, place, wanted in itertools.product(("get", "list"), places, ("", name))
    ]
    return any(map(world.allows, asked))


def text_of(answer: web.StreamResponse) -> str:
    if isinstance(answer, SingleWriteResponse):
        return answer.bytes.decode()
    return answer.body.decode() if isinstance(answer, web.Response) and isinstance(answer.body, bytes) else ""


@pytest.mark.holds_the_loop("asks hundreds of handlers in one turn")
async def test_no_path_shows_what_its_user_may_not_see(tmp_path: Path) -> None:
    wild = list(dict.fromkeys(wild_targets()))
    shown: list[tuple[str, str, str]] = []
    seen = 0
    async with running(tmp_path) as started:
        await make_objects(started)
        serve = app.routes(started.parts).dispatch
        for seed in range(WORLDS):
            world, pick = World(seed), random.Random(seed)
            authorizer = ByPolicy(world.policy())
            for user in USERS:
                filters: list[Filter] = [
                    with_request_info,
                    with_errors,
                    partial(as_user, user=user),
                    partial(with_authorization, authorizer=authorizer, metrics=AccessMetrics(), clock=SystemClock()),
                ]
                handler = compose(filters, serve)
                for target in pick.sample(wild, WILD_CASES // WORLDS // len(USERS)):
                    if "/watch/" in target:
                        continue
                    answer = await handler(request_of(target), RequestContext("id", 0.0, Warnings()))
                    body = text_of(answer)
                    found = [place for _, *place in OBJECTS if mark(*place) in body]
                    seen += len(found)
                    shown += [(user.name, target, mark(*one)) for one in found if not may_see(world, user, *one)]

    assert shown == []
    assert seen > 0
