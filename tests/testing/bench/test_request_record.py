from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.registry.machinery import media_types, schema
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.testing import Server, golden
from aio_apiserver.testing.bench.recorded_request import RecordedRequest
from aio_apiserver.testing.bench.request_list import RequestList, explain
from aio_apiserver.testing.bench.request_record import RequestFields
from aio_apiserver.testing.client import BlockingClient, Refused
from tests.testing.objects import CONFIG_MAPS, make, names

POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}}
APPLY = "application/apply-patch+yaml"


def seen(line: str, number: int = 1, status: int = 200) -> RecordedRequest:
    """A request, from its line."""
    verb, resource, place = line.split()
    namespace, _, name = place.rpartition("/")
    return RecordedRequest(
        number, 0.0, "", "", verb, "", resource, "", namespace, name, "me", "test/1.0", status=status
    )


def test_requests_are_equal_to_the_lines_that_stand_for_them(server: Server, client: BlockingClient) -> None:
    make(client, "web")
    client.request("GET", f"{CONFIG_MAPS}/web")
    client.request("GET", "/apis/apps/v1/deployments")
    client.request("GET", "/version?pretty=true")

    assert server.requests.matching() == [
        "create configmaps default/web",
        "get configmaps default/*",
        "list deployments.apps",
        "get /version",
    ]
    assert server.requests.matching(verb="patch") == []
    assert server.requests.matching() != ["create configmaps default/web"]


def test_what_was_sent_is_remembered(server: Server, client: BlockingClient) -> None:
    make(client, "web", colour="blue")
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": "1"}}
    client.request("PATCH", f"{CONFIG_MAPS}/web?fieldManager=me", applied, content_type=APPLY)
    client.request("DELETE", f"{CONFIG_MAPS}/web", {"propagationPolicy": "Background"})

    bodies = server.requests.matching(resource="configmaps").bodies

    assert [body.get("data") or body["propagationPolicy"] for body in bodies] == [
        {"colour": "blue"},
        {"size": "1"},
        "Background",
    ]


@pytest.mark.parametrize(
    ("content_type", "data"),
    [
        ("application/json", b'{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}}'),
        ("application/yaml", b"{kind: Pod, apiVersion: v1, metadata: {name: web}}"),
        (media_types.PROTOBUF, protobuf.dump(POD, schema.builtin())),
    ],
    ids=["json", "yaml", "protobuf"],
)
def test_bodies_are_read_whatever_they_are_written_in(content_type: str, data: bytes) -> None:
    one = seen("create pods a/b")
    one.content_type = content_type

    one.answered(201, data)

    assert (one.body["kind"], one.body["metadata"]["name"]) == ("Pod", "web")


def test_a_body_that_cannot_be_read_is_shown_as_it_came() -> None:
    one = seen("create pods a/b")

    one.answered(400, b"{")

    assert one.body == "{"


def test_objects_are_found_by_the_names_that_they_get(server: Server, client: BlockingClient) -> None:
    client.request("POST", CONFIG_MAPS, {"metadata": {"generateName": "web-"}})

    assert server.requests.matching(name="web-*", verb=["create", "update"]) == ["create configmaps default/web-?????"]


def test_what_is_made_in_a_context_is_told_apart(server: Server, client: BlockingClient) -> None:
    make(client, "before")
    with server.requests.recorded(verb="create") as made:
        make(client, "within")
        names(client)
    make(client, "behind")

    assert made == ["create configmaps default/within"]


def test_what_should_have_been_made_is_told_with_what_was(server: Server, client: BlockingClient) -> None:
    make(client, "web")

    (made,) = server.requests.assert_made(verb="create", count=1)
    server.requests.assert_none(verb="delete")
    with pytest.raises(AssertionError) as failure:
        server.requests.assert_made(verb="create", count=2)

    assert made.name == "web"
    assert str(failure.value).splitlines() == [
        "1 requests fit verb='create', expected 2",
        "   status  request                        user              user agent",
        ">  201     create configmaps default/web  kubernetes-admin",
    ]


async def test_what_an_operator_will_do_is_waited_for(server: Server, client: BlockingClient) -> None:
    make(client, "web")

    assert await server.requests.wait_for_async(verb="create") == ["create configmaps default/web"]
    with pytest.raises(AssertionError, match=r"0 requests fit verb='patch', expected 1 within 0\.01 s"):
        server.requests.wait_for(verb="patch", timeout=0.01)


def test_fields_that_requests_do_not_have_are_refused(server: Server) -> None:
    with pytest.raises(TypeError, match="requests have no colour; they have verb, resource"):
        server.requests.selected({"colour": "blue"})
    with pytest.raises(TypeError, match="not selected by group: it is a part of `resource`"):
        server.requests.selected({"group": "apps"})


@pytest.mark.parametrize(
    ("patterns", "complaint"),
    [
        ({"verb": "DELETE"}, "no request has the verb 'DELETE': did you mean delete"),
        ({"verb": ["get", "lst"]}, "no request has the verb 'lst': did you mean"),
        ({"resource": "deployments"}, "there is no resource 'deployments': did you mean deployments.apps"),
        ({"resource": "deployments.app"}, "there is no resource 'deployments.app': did you mean deployments.apps"),
        ({"resource": "configmaps/status"}, "there is no resource 'configmaps/status'"),
        ({"resource": "greetings.example.com"}, "there is no resource 'greetings.example.com'"),
        ({"method": "get"}, "no request has the method 'get': did you mean GET"),
        ({"status": 40}, "no request has the status '40'"),
    ],
)
def test_an_assertion_that_cannot_fail_is_refused(server: Server, patterns: RequestFields, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        server.requests.assert_none(**patterns)
    with pytest.raises(ValueError, match=complaint), server.requests.recorded(**patterns):
        pass


def test_resources_are_selected_without_their_subresources(server: Server, client: BlockingClient) -> None:
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    for path in (deployments, f"{deployments}/web/status", "/api/v1/pods", "/apis/apps/v1/deploys"):
        with suppress(Refused):
            client.request("GET", path)

    def lines(*resource: str) -> list[str]:
        return server.requests.matching(resource=resource).lines

    assert lines("deployments.apps") == ["list deployments.apps default/"]
    assert lines("deployments.apps/*") == ["get deployments.apps/status default/web"]
    assert lines("*.apps", "pods") == ["list deployments.apps default/", "list pods", "list deploys.apps"]
    assert lines("deploys.apps") == ["list deploys.apps"], "a request for a resource that is not served"


def test_a_difference_says_what_came_too_much_and_what_is_missing() -> None:
    made = RequestList(map(seen, ["get pods a/one", "patch pods a/one", "patch pods a/two"]))

    assert explain(made, ["patch pods a/*", "delete pods a/one", "patch pods a/two"]) == [
        "3 made, 3 expected (+ made, - expected):",
        "+ get pods a/one",
        "  patch pods a/one",
        "- delete pods a/one",
        "  patch pods a/two",
    ]


def test_unexpected_requests_are_shown_as_a_table() -> None:
    assert explain(RequestList([seen("get pods a/one", status=404)]), []) == [
        "1 made, none expected:",
        "   status  request         user  user agent",
        "   404     get pods a/one  me    test/1.0",
    ]


def test_other_comparisons_are_left_to_others() -> None:
    assert explain([1], [2]) is None


def test_the_record_is_asked_for_over_http(client: BlockingClient) -> None:
    make(client, "web", colour="blue")

    (found,) = client.request("GET", "/testing/requests?verb=create&line=create+configmaps*")["requests"]

    assert (found["line"], found["status"]) == ("create configmaps default/web", 201)
    assert found["body"]["data"] == {"colour": "blue"}


def test_a_request_that_was_refused_is_remembered_with_its_body(server: Server, client: BlockingClient) -> None:
    with pytest.raises(Refused):
        client.request("POST", CONFIG_MAPS, {"metadata": {"name": "No Name"}})

    (refused,) = server.requests.matching(status=422)
    assert refused.body["metadata"]["name"] == "No Name"


def test_long_texts_of_clients_are_cut_in_the_record(server: Server, client: BlockingClient) -> None:
    with suppress(Refused):
        client.request("GET", f"{CONFIG_MAPS}/{'x' * 60_000}?labelSelector={'y' * 60_000}")
    with suppress(Refused):
        client.request("POST", CONFIG_MAPS, {"metadata": {"generateName": "web-"}, "data": {"text": "x" * 100_000}})

    asked, made = server.requests.matching(resource="configmaps")
    assert max(asked.size, made.size) < 20_000
    assert (len(asked.name), made.name, made.body["metadata"]["generateName"]) == (513, "", "web-")


# Golden recordings


def reconcile(client: BlockingClient) -> None:
    """The writes of an operator, with everything that differs between two runs."""
    owner = make(client, "owner")["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
    child = client.request(
        "POST", CONFIG_MAPS, {"metadata": {"generateName": "child-", "ownerReferences": [reference]}}
    )
    name, version = child["metadata"]["name"], child["metadata"]["resourceVersion"]
    seen_at = {"metadata": {"resourceVersion": version, "annotations": {"seen": owner["creationTimestamp"]}}}
    client.request("PATCH", f"{CONFIG_MAPS}/{name}", seen_at, content_type="application/merge-patch+json")
    tested = [{"op": "test", "path": "/metadata/resourceVersion", "value": owner["resourceVersion"]}]
    client.request("PATCH", f"{CONFIG_MAPS}/owner", tested, content_type="application/json-patch+json")
    client.request("DELETE", f"{CONFIG_MAPS}/{name}?propagationPolicy=Background")


RECORDING = """\
- request: create configmaps default/owner
  status: 201
  body:
    data: {}
    metadata:
      name: owner
- request: create configmaps default/child-?????
  status: 201
  body:
    metadata:
      generateName: child-
      ownerReferences:
      - apiVersion: v1
        kind: ConfigMap
        name: owner
        uid: <uid-1>
- request: patch configmaps default/child-<name-1>
  status: 200
  body:
    metadata:
      annotations:
        seen: <time>
      resourceVersion: <version>
- request: patch configmaps default/owner
  status: 200
  body:
  - op: test
    path: /metadata/resourceVersion
    value: <version>
- request: delete configmaps default/child-<name-1>
  status: 200
  options:
    propagationPolicy: Background
"""


def test_two_runs_of_one_client_give_one_recording(server: Server, client: BlockingClient) -> None:
    recordings = []
    for _ in range(2):
        server.reset()
        reconcile(client)
        recordings.append(golden.text_of(server.requests.matching(verb=golden.WRITES)))

    assert recordings == [RECORDING, RECORDING]


def test_a_run_that_differs_from_its_recording_is_told_apart(
    server: Server, client: BlockingClient, tmp_path: Path
) -> None:
    path = tmp_path / "golden" / "run.yaml"

    def made(**data: Any) -> RequestList:
        server.reset()
        make(client, "web", **data)
        return server.requests.matching()

    with pytest.raises(AssertionError, match="--apiserver-update-golden makes it"):
        golden.check(path, made())
    golden.check(path, made(colour="blue"), update=True)
    golden.check(path, made(colour="blue"))
    golden.check(path, made(colour="green"), replace={"green": "blue"})
    with pytest.raises(AssertionError) as failure:
        golden.check(path, made(colour="red"))

    assert "-      colour: blue\n+      colour: red" in str(failure.value)
