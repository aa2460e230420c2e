"""The timeline: what it records, what it leaves out, who may read it."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from msgspec.structs import asdict, replace

from aio_apiserver.apiserver import app
from aio_apiserver.apiserver.console.reports.findings import findings
from aio_apiserver.apiserver.console.timeline import differences, hidden_values
from aio_apiserver.apiserver.console.timeline.object_changes import LIMITS, object_change, states_of, uncompared
from aio_apiserver.apiserver.console.timeline.request_trace import MOST_BYTES, RequestTrace
from aio_apiserver.apiserver.console.timeline.worker_requests import WorkerRequests
from aio_apiserver.apiserver.filters.authentication import with_unsecured_user
from aio_apiserver.apiserver.wire import request_info
from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.registry.generic.access.users import ANONYMOUS, UserInfo, authenticated
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject
from aio_apiserver.testing import Refused, Review, Server
from tests.testing.test_snapshots import PATIENCE, version_of, watching

MAPS = "/api/v1/namespaces/default/configmaps"
CANARY = "canary-2f9c1e"
ENDED = "00000007"
JANE = authenticated(UserInfo(name="jane"))
PLAIN: Any = make_mocked_request("GET", "/")
PLENTY = BudgetLimits(steps=1_000_000, bytes_made=10_000_000)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(ui=True, authorization_mode=("RBAC",)) as running:
        yield running


def timeline(server: Server) -> Any:
    with server.client() as client:
        return client.request("GET", "/ui/api/timeline")


def requests_of(server: Server, **fields: Any) -> list[Any]:
    return [one for one in timeline(server)["requests"] if all(one[name] == value for name, value in fields.items())]


def changes_of(server: Server, name: str) -> list[Any]:
    return [one for one in timeline(server)["changes"] if one["name"] == name]


def allow(server: Server, user: str, verb: str, path: str) -> None:
    group, name = "rbac.authorization.k8s.io", user.replace(":", "-")
    server.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": [{"nonResourceURLs": [path], "verbs": [verb]}],
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        },
    )


def test_a_request_is_recorded_with_its_answer_and_without_its_query(server: Server) -> None:
    with server.client() as client, pytest.raises(Refused):
        client.request("GET", f"{MAPS}/missing?pretty={CANARY}")

    [one] = requests_of(server, name="missing")
    assert (one["verb"], one["status"], one["reason"], one["user"]) == ("get", 404, "NotFound", "kubernetes-admin")
    assert one["seconds"] > 0
    assert "not found" in one["message"]
    assert CANARY not in orjson.dumps(timeline(server)).decode()


def test_a_refusal_says_who_was_refused_and_why(server: Server) -> None:
    with server.user("robin").client() as client, pytest.raises(Refused):
        client.request("DELETE", f"{MAPS}/any")

    [one] = requests_of(server, user="robin", verb="delete")
    assert (one["status"], one["reason"]) == (403, "Forbidden")
    assert one["notes"]["authorization.k8s.io/decision"] == "forbid"


def test_an_injected_fault_is_named(server: Server) -> None:
    fault = server.fault("throttle", resource="configmaps", name="throttled")
    with fault, server.client() as client, pytest.raises(Refused):
        client.request("GET", f"{MAPS}/throttled")

    [one] = requests_of(server, name="throttled")
    assert (one["status"], one["fault"].endswith("throttle")) == (429, True)


def test_a_fault_in_a_watch_is_a_step_of_the_running_watch(server: Server) -> None:
    fault = server.fault("duplicate", resource="configmaps")
    with server.client() as client, fault, watching(server, version_of(client)) as said:
        client.request("POST", MAPS, {"metadata": {"name": "twice"}})
        assert [said.get(timeout=PATIENCE) for _ in range(2)] == [("ADDED", "twice")] * 2
        [one] = [one for one in requests_of(server, verb="watch", resource="configmaps") if one["seconds"] is None]

    assert [(step["kind"], step["verdict"]) for step in one["steps"]] == [("fault", "duplicate")]


def test_admission_decisions_are_steps_of_a_request(server: Server) -> None:
    def label(review: Review) -> None:
        review.object["metadata"]["labels"] = {"by": "webhook"}

    def refuse(_review: Review) -> str:
        return "not today"

    pod = {"metadata": {"name": "steps"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    with server.client() as client, server.webhooks.mutating(label, "pods"):
        client.request("POST", "/api/v1/namespaces/default/pods", pod)
        with server.webhooks.validating(refuse, "pods"), pytest.raises(Refused):
            client.request("POST", "/api/v1/namespaces/default/pods", {**pod, "metadata": {"name": "refused"}})

    [made] = requests_of(server, verb="create", resource="pods", name="steps")
    [refused] = requests_of(server, verb="create", resource="pods", name="refused")
    decisions = {(one["kind"], one["verdict"]): one for one in (*made["steps"], *refused["steps"])}
    assert "spec.tolerations" in decisions["plugin", "changed"]["detail"]
    assert decisions["webhook", "changed"]["detail"] == "/metadata/labels"
    assert "not today" in decisions["webhook", "refused"]["detail"]
    assert {one["by"] for one in made["steps"]} >= {"DefaultTolerationSeconds", "Priority"}


def test_events_of_the_cluster_are_in_the_timeline(server: Server) -> None:
    about = {"kind": "Pod", "namespace": "default", "name": "web", "uid": "u1"}
    event = {"metadata": {"name": "web.1"}, "involvedObject": about, "reason": "Failed", "message": "why", "count": 3}
    timeline(server)
    with server.client() as client:
        made = client.request("POST", "/api/v1/namespaces/default/events", {**event, "type": "Warning"})

    revision = int(made["metadata"]["resourceVersion"])
    looks = ([one for one in timeline(server)["events"] if one["revision"] == revision] for _ in range(500))
    [shown] = next(filter(None, looks))
    assert (shown["type"], shown["reason"], shown["message"], shown["count"]) == ("Warning", "Failed", "why", 3)
    assert (shown["kind"], shown["name"], shown["regarding"]) == ("Pod", "web", "u1")
    [found] = findings([], [], [shown])
    assert found == {"tone": "warn", "text": "3 times Failed: Pod default/web", "detail": "why"}


def test_a_change_names_its_fields_and_its_manager(server: Server) -> None:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"colour": "red"}}
    with server.client() as client:
        client.request("POST", f"{MAPS}?fieldManager=first", made)
        client.request("PUT", f"{MAPS}/one?fieldManager=second", {**made, "data": {"colour": "blue"}})
        client.request("DELETE", f"{MAPS}/one")

    added, changed, gone = changes_of(server, "one")
    assert [one["type"] for one in (added, changed, gone)] == ["ADDED", "MODIFIED", "DELETED"]
    assert (added["manager"], changed["manager"]) == ("first", "second")
    assert changed["differences"] == [["data.colour", '"red"', '"blue"']]
    place = f"/ui/api/timeline/object?resource=configmaps&uid={changed['uid']}&revision={changed['revision']}"
    with server.client() as client:
        then = client.request("GET", place)
    assert (then["before"]["data"], then["after"]["data"]) == ({"colour": "red"}, {"colour": "blue"})


def test_a_client_gets_young_changes_again_for_a_cache_may_be_behind_the_others(server: Server) -> None:
    with server.client() as client:
        for number in range(60):
            client.request("POST", MAPS, {"metadata": {"name": f"young-{number}"}})
        found = client.request("GET", "/ui/api/timeline")
        again = client.request("GET", f"/ui/api/timeline?revision={found['next']['revision']}")

    names = {one["name"] for one in again["changes"]}
    assert {f"young-{number}" for number in range(60)} <= names


def test_no_secret_value_is_shown(server: Server) -> None:
    secrets, secret = (
        "/api/v1/namespaces/default/secrets",
        {"metadata": {"name": "hidden"}, "stringData": {"key": CANARY}},
    )
    env = {"name": "DB_PASSWORD", "value": CANARY}
    pod = {"metadata": {"name": "with-env"}, "spec": {"containers": [{"name": "a", "image": "a", "env": [env]}]}}
    with server.client() as client:
        client.request("POST", secrets, secret)
        client.request("PUT", f"{secrets}/hidden", {**secret, "stringData": {"key": f"{CANARY}-2"}})
        client.request("POST", "/api/v1/namespaces/default/pods", pod)
        with pytest.raises(Refused):
            client.request("POST", secrets, {"metadata": {"name": "bad"}, "data": {"key": CANARY}})

    text = orjson.dumps(timeline(server)).decode()
    *_, changed = changes_of(server, "hidden")
    assert CANARY not in text
    assert "Y2FuYXJ5" not in text
    assert changed["differences"] == [["data.key", '"(hidden)"', '"(hidden, changed)"']]
    [added] = changes_of(server, "with-env")
    with server.client() as client:
        for one, resource in ((changed, "secrets"), (added, "pods")):
            place = f"/ui/api/timeline/object?resource={resource}&uid={one['uid']}&revision={one['revision']}"
            shown = orjson.dumps(client.request("GET", place)).decode()
            assert CANARY not in shown
            assert "Y2FuYXJ5" not in shown
            assert "(hidden)" in shown


def test_a_right_on_the_path_is_needed(server: Server) -> None:
    robin, kim = server.user("robin"), server.user("kim")
    allow(server, "kim", "get", "/ui/api/timeline")

    with robin.client() as client, pytest.raises(Refused, match="403"):
        client.request("GET", "/ui/api/timeline")
    with kim.client() as client:
        assert client.request("GET", "/ui/api/timeline")["requests"]


def test_all_endpoints_refuse_anonymous_users_with_a_right_on_the_path_and_writes(server: Server) -> None:
    allow(server, "system:anonymous", "*", "/ui/api/*")
    console = server._live.parts.console
    assert console is not None

    for path in console.exact():
        with server.client() as client:
            with pytest.raises(Refused, match="405"):
                client.request("POST", path, {})
            client.token = ""
            with pytest.raises(Refused, match="401"):
                client.request("GET", path)


def test_wrong_questions_are_bad_requests(server: Server) -> None:
    with server.client() as client:
        for query in ("?positions=x", "?positions=1:2:3", "?revision=-1", "/object?resource=pods&uid=1&revision=1"):
            with pytest.raises(Refused, match="400"):
                client.request("GET", f"/ui/api/timeline{query}")


def test_without_the_console_no_filter_and_no_admission_plugin_records(server: Server) -> None:
    with Server() as plain:
        for running, expected in ((plain, 0), (server, 1)):
            parts = running._live.parts
            filters = app.chain(parts, with_unsecured_user)
            assert sum("console" in one.__module__ for one in filters) == expected
            assert parts.upkeep._given.config.traces_admission == bool(expected)


async def test_the_answer_of_a_worker_that_ends_in_the_middle_is_left_out() -> None:
    trace = RequestTrace(ManualClock(), "X-Console")

    async def ask_others(question: str) -> list[bytes]:
        assert question == f"timeline\t{ENDED}:1"
        return [b'{"record":"00000007","posi', b'{"record":"00000008","position":3,"requests":[{"at":1.0}]}']

    read = await WorkerRequests(trace, ask_others).after(f"{ENDED}:1", "jane")

    assert [one["at"] for one in read.requests] == [1.0]
    assert read.positions == f"{ENDED}:1,{trace.record}:0,00000008:3"


async def test_a_process_id_that_is_used_again_is_another_record() -> None:
    requests = [WorkerRequests(RequestTrace(ManualClock(), "X-Console"), None) for _ in range(2)]
    before, after = [await one.now() for one in requests]

    assert before != after


async def test_positions_of_workers_that_have_ended_are_bounded() -> None:
    trace = RequestTrace(ManualClock(), "X-Console")
    ended = [f"{number:08x}:1" for number in range(40)]

    read = await WorkerRequests(trace, None).after(",".join(ended), "jane")

    assert read.positions.split(",") == [*ended[-16:], f"{trace.record}:0"]


async def test_the_record_is_bounded_while_no_request_ends() -> None:
    trace, is_over = RequestTrace(ManualClock(), "X-Console", most=3), asyncio.Event()

    async def wait(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
        await is_over.wait()
        return web.Response()

    async with asyncio.TaskGroup() as tasks:
        for number in range(5):
            tasks.create_task(traced(trace, wait, f"/{number}"))
        await asyncio.sleep(0)
        running = [one.path for one in trace.after(0)]
        is_over.set()

    assert running == ["/2", "/3", "/4"]
    assert [(one.path, one.status) for one in trace.after(0)] == [("/2", 200), ("/3", 200), ("/4", 200)]
    assert trace.after(trace.position) == []


async def test_long_texts_of_a_client_are_cut_in_the_record() -> None:
    trace, long = RequestTrace(ManualClock(), "X-Console"), "x" * 120_000
    request = make_mocked_request("GET", "/", headers={"User-Agent": long})
    paths = [f"/{long}", f"/api/v1/namespaces/{long}/pods/{long}/{long}", f"/apis/{long}/v1/{long}"]

    for path in paths:
        await traced(trace, refuse, path, user=replace(JANE, name=long), request=request)

    assert trace.statistics()["requests"]["bytes"] < 20_000
    assert max(len(str(text)) for one in trace.after(0) for text in asdict(one).values()) < 2_100


async def test_the_record_is_bounded_by_bytes() -> None:
    trace, message = RequestTrace(ManualClock(), "X-Console"), "\N{EM DASH}" * 10_000
    step = RequestStep("webhook", message, "refused", detail=message)

    async def note(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        for _ in range(50):
            context.note_step(step)
        raise StatusError(message)

    for number in range(400):
        await traced(trace, note, f"/{number}")

    kept = trace.statistics()["requests"]
    assert kept["bytes"] <= MOST_BYTES
    assert kept["items"] < 400
    assert trace.after(0)[-1].path == "/399"


async def test_unauthenticated_clients_have_a_small_share_of_the_record() -> None:
    trace = RequestTrace(ManualClock(), "X-Console", most=160)
    await traced(trace, refuse, f"{MAPS}/of-jane")
    await traced(trace, answer, f"{MAPS}/served", user=ANONYMOUS)

    for number in range(500):
        await traced(trace, (answer, refuse)[number % 2], f"/{number}", user=ANONYMOUS)

    names = [one.name for one in trace.after(0)]
    assert names[:2] == ["of-jane", "served"]
    assert len(names) == 2 + 10
    assert [one.path for one in trace.after(0)][-1] == "/499"


def test_refused_requests_with_long_paths_leave_little(server: Server) -> None:
    trace = server._live.parts.console.trace  # type: ignore[union-attr]
    with server.client() as client:
        client.token = ""
        for number in range(20):
            with pytest.raises(Refused, match="403"):
                client.request("GET", f"/{number}{'x' * 100_000}")

    kept = trace.statistics()["unauthenticated"]
    assert kept["items"] >= 20
    assert kept["bytes"] < 10_000 * kept["items"]
    assert len(requests_of(server, verb="get", user="system:anonymous")[-1]["path"]) < 500


async def answer(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
    return web.Response()


async def refuse(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
    return web.Response(status=403)


async def traced(
    trace: RequestTrace, handler: Handler, path: str, *, user: UserInfo = JANE, request: Any = None
) -> None:
    """Send a request through the filter."""
    info = request_info.resolve("GET", path, {})
    context = RequestContext("1", 0.0, Warnings(), path=path, info=info, user=user)
    with suppress(StatusError):
        await trace.with_tracing(handler)(request or PLAIN, context)
    await asyncio.sleep(0)


def stored(revision: int, obj: dict[str, Any]) -> StoredObject:
    return StoredObject("key", revision, orjson.dumps(obj), ObjectReader(decode=orjson.loads, fields=lambda _obj: {}))


@pytest.mark.parametrize(
    ("before", "after", "about"),
    [({"holderIdentity": "a"}, {"holderIdentity": "b"}, "leader"), ({"renewTime": "1"}, {"renewTime": "2"}, "renewal")],
)
def test_another_holder_of_a_lease_is_another_leader(before: Any, after: Any, about: str) -> None:
    states = [{"metadata": {"name": "lease"}, "spec": spec} for spec in (before, after)]
    change = Change("key", stored(1, states[0]), current=stored(2, states[1]), revision=2, at=0)

    shown = object_change(states_of("coordination.k8s.io", "leases", change, 0.0), Budget(PLENTY))
    assert (shown.about, shown.holder) == (about, after.get("holderIdentity", ""))


def test_items_of_lists_are_compared_by_name() -> None:
    before = {"a": [{"name": "x", "v": 1}, {"name": "y", "v": 2}], "b": [1, 2]}
    after = {"a": [{"name": "y", "v": 3}, {"name": "x", "v": 1}], "b": [1]}

    compared = differences.differences(before, after, Budget(PLENTY))

    assert (compared.fields, compared.count) == ((("a[y].v", "2", "3"), ("b[1]", "2", None)), 2)


def test_a_rewritten_map_of_30_000_keys_is_compared_in_few_steps() -> None:
    before, after = ({f"key-{number}": f"{text}{number}" for number in range(30_000)} for text in "ab")
    account = Budget(LIMITS)

    compared = differences.differences({"data": before}, {"data": after}, account)

    assert (len(compared.fields), compared.count) == (differences.MOST, 30_000)
    assert compared.fields[-1] == ("data.key-59", '"a59"', '"b59"')
    assert account.steps_spent < 5_000


def test_deep_values_are_compared_once_and_their_paths_are_short() -> None:
    def deep(value: Any, depth: int = 200) -> Any:
        for _ in range(depth):
            value = {"x" * 1000: value}
        return {"spec": value}

    account = Budget(LIMITS)
    compared = differences.differences(deep({"text": "a" * 100_000}), deep({"text": "b" * 100_000}), account)

    [(path, before, after)] = compared.fields
    assert max(map(len, (path, str(before), str(after)))) == 401
    assert account.steps_spent < 500


def test_a_change_beyond_the_budget_is_shown_without_its_fields() -> None:
    before, after = ({"metadata": {"name": "wide"}, "spec": [[text]] * 60_000} for text in "ab")
    change = Change("key", stored(1, before), current=stored(2, after), revision=2, at=0)
    states = states_of("example.org", "gardens", change, 0.0)

    with pytest.raises(BudgetExceeded):
        object_change(states, Budget(LIMITS))
    shown = uncompared(states, Budget(LIMITS))

    assert (shown.name, shown.type, shown.is_compared, shown.differences) == ("wide", "MODIFIED", False, ())


def test_the_last_of_10_000_field_managers_is_found_in_few_steps() -> None:
    managers = [{"manager": f"m{number}", "operation": "Update", "time": "1"} for number in range(10_000)]
    states = [{"metadata": {"name": "owned", "managedFields": one}} for one in (managers[:-1], managers)]
    change = Change("key", stored(1, states[0]), current=stored(2, states[1]), revision=2, at=0)

    shown = object_change(states_of("", "configmaps", change, 0.0), Budget(LIMITS))

    assert shown.manager == "m9999"


def test_changes_of_a_large_object_are_compared_once_beside_the_event_loop(server: Server) -> None:
    with server.client() as client:
        client.request("POST", MAPS, {"metadata": {"name": "wide"}})
        for text in "abc":
            data = {f"key-{number}": f"{text}{number}" for number in range(30_000)}
            client.request("PUT", f"{MAPS}/wide", {"metadata": {"name": "wide"}, "data": data})
        first, second = (client.request("GET", "/ui/api/timeline")["changes"] for _ in range(2))

    *_, newest = [one for one in first if one["name"] == "wide"]
    history = server._live.parts.console.history  # type: ignore[union-attr]
    entries = [server._call(history._changes(newest["revision"] - 1, "jane")).entries[0] for _ in range(2)]
    assert (newest["count"], len(newest["differences"]), newest["isCompared"]) == (30_000, 60, True)
    assert [one for one in second if one["name"] == "wide"] == [one for one in first if one["name"] == "wide"]
    assert entries[0] is entries[1]


def test_values_under_telling_names_are_hidden() -> None:
    given: Any = {
        "spec": {"password": "p", "secretName": "n", "apiKey": "k", "tokens": 3},
        "data": {"db.password": "p"},
    }

    shown: Any = hidden_values.without_secrets(given, Budget(PLENTY), is_secret=False)

    assert shown["spec"] == {"password": "(hidden)", "secretName": "n", "apiKey": "(hidden)", "tokens": 3}
    assert shown["data"] == {"db.password": "(hidden)"}
    assert given["spec"]["password"] == "p"
