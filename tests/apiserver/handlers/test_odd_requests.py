"""Requests that few clients send: which error comes first, and its message."""

from pathlib import Path
from typing import NamedTuple

import orjson

from tests.apiserver.serving import as_admin, ask, running

MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/api/v1/namespaces/default/events"
STATUSES = "/api/v1/componentstatuses"
TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
SCHEMAS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
YAML = "application/yaml"
MERGE = "application/merge-patch+json"
PROTOBUF = "application/vnd.kubernetes.protobuf"


class Odd(NamedTuple):
    """A request, and the status and message of its response."""

    target: str
    status: int
    says: str
    method: str = "GET"
    accept: str = "application/json"
    sent: str = "application/json"
    body: bytes = b""


ODD = {
    "all of ours at once": Odd(MAPS, 406, "406: Not Acceptable", accept="application/*"),
    "no stream": Odd(f"{MAPS}?watch=1", 406, "application/json;stream=watch", accept=YAML),
    "no stream and worse": Odd(f"{MAPS}?watch=1&limit=x", 400, "invalid syntax", accept=YAML),
    "a watch of what is only listed": Odd(f"{STATUSES}?watch=1", 405, "watch is not supported"),
    "a wrong watch of what is only listed": Odd(f"{STATUSES}?watch=1&limit=x", 400, "invalid syntax"),
    "an old watch with a beginning": Odd(
        "/api/v1/watch/namespaces/default/configmaps?sendInitialEvents=true", 422, "is forbidden for list"
    ),
    "a name that is none": Odd(f"{MAPS}/a%2525", 400, 'Name parameter invalid: \\"a%25\\": may not contain'),
    "a name that is none, and no type of ours": Odd(f"{MAPS}/a%25", 406, "406: Not Acceptable", accept="text/html"),
    "a name that is none, and no method": Odd(f"{MAPS}/..", 405, "does not allow this method", method="OPTIONS"),
    "no method of a proxy": Odd("/api/v1/nodes/x/proxy", 405, "does not allow this method", method="FOO"),
    "wrong options, and no type of ours": Odd(f"{MAPS}?dryRun=x", 415, "unknown format", "POST", sent="text/plain"),
    "a byte that is no UTF-8": Odd(MAPS, 400, "invalid character 'Ó' looking for", "POST", body=b"\xd3"),
    "a patch that is no UTF-8": Odd(
        "/api/v1/namespaces/default", 400, "invalid character 'Ó' looking for", "PATCH", sent=MERGE, body=b"\xd3"
    ),
    "no protobuf": Odd(MAPS, 400, "empty data (<empty>)", "POST", sent=PROTOBUF),
    "a deletion of what one version had": Odd(f"{MAPS}?resourceVersion=1", 200, '"items":[]', "DELETE"),
    "a group of the aggregator": Odd("/apis/apiregistration.k8s.io", 405, "does not allow this method", "POST"),
    "a group of the server": Odd("/apis/apps", 200, '"kind":"APIGroup"', "POST"),
    "a timeout out of range": Odd(f"{MAPS}?timeout=9223372036854775809", 400, "time: invalid duration"),
    "another spec of a mandatory flow schema": Odd(
        SCHEMAS, 422, 'Rules\\":null}', "POST", body=b'{"metadata":{"name":"exempt"}}'
    ),
    "a mandatory flow schema with an empty list": Odd(
        SCHEMAS, 422, 'Rules\\":[]}', "POST", body=b'{"metadata":{"name":"exempt"},"spec":{"rules":[]}}'
    ),
    "a review of a bad token with a status": Odd(
        TOKENS,
        201,
        '"user":{"username":"sent"}',
        "POST",
        body=b'{"spec":{"token":"x"},"status":{"user":{"username":"sent"}}}',
    ),
    "a review with a grace period": Odd(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        201,
        '"allowed":true',
        "POST",
        body=b'{"metadata":{"deletionGracePeriodSeconds":5},"spec":{"resourceAttributes":{"verb":"get"}}}',
    ),
    "a service of an API with another prefix of names": Odd(
        "/apis/apiregistration.k8s.io/v1/apiservices?dryRun=All",
        422,
        'metadata.generateName: Invalid value: \\"x\\": must be `spec.version+',
        "POST",
        body=b'{"metadata":{"name":"v1.x.io","generateName":"x"},"spec":{"group":"x.io","version":"v1",'
        b'"groupPriorityMinimum":1,"versionPriority":1}}',
    ),
    "a class of devices with any prefix": Odd(
        "/apis/resource.k8s.io/v1/deviceclasses?dryRun=All",
        201,
        '"generateName":"A b"',
        "POST",
        body=b'{"metadata":{"name":"a","generateName":"A b"}}',
    ),
    "a class of devices with a long name": Odd(
        "/apis/resource.k8s.io/v1/deviceclasses?dryRun=All",
        422,
        "must be no more than 253 bytes",
        "POST",
        body=b'{"metadata":{"name":"%b"}}' % (b"x" * 254),
    ),
    "an old scale": Odd(
        "/apis/apps/v1/namespaces/default/deployments/a/scale",
        400,
        "the API version in the data (apps/v1beta1) does not match the expected API version (autoscaling/v1)",
        "PUT",
        body=b'{"apiVersion":"apps/v1beta1","kind":"Scale","metadata":{"name":"a"}}',
    ),
    "a percentage that is none is shown as JSON": Odd(
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        422,
        r"spec.minAvailable: Invalid value: \"\\u0026\": a valid percent string",
        "POST",
        body=b'{"metadata":{"name":"a"},"spec":{"minAvailable":"&"}}',
    ),
    "a time zone that is none is shown as JSON": Odd(
        "/apis/batch/v1/namespaces/default/cronjobs",
        422,
        r"spec.timeZone: Invalid value: \"\\u0026\": unknown time zone &",
        "POST",
        body=b'{"metadata":{"name":"a"},"spec":{"schedule":"1 * * * *","timeZone":"&"}}',
    ),
    "a name of a resource that is none is shown as JSON": Odd(
        "/api/v1/namespaces/default/resourcequotas",
        422,
        r"spec.hard[a&]: Invalid value: \"a\\u0026\": name part",
        "POST",
        body=b'{"metadata":{"name":"a"},"spec":{"hard":{"a&":"1"}}}',
    ),
    "an event as an owner is shown as Go prints it": Odd(
        MAPS,
        422,
        r"{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"\",\"uid\":\"1\",\"controller\":true}: /v1, Kind=Event",
        "POST",
        body=b'{"metadata":{"name":"b","ownerReferences":'
        b'[{"controller":true,"uid":"1","kind":"Event","apiVersion":"v1"}]}}',
    ),
    "a number that no integer holds is a float": Odd(
        "/api/v1/namespaces/default",
        422,
        "cannot restore struct from: float64",
        "PATCH",
        sent="application/strategic-merge-patch+json",
        body=b'{"metadata": 9223372036854775808}',
    ),
    "no field validation is shown as a text": Odd(
        f"{MAPS}?fieldValidation=%00%26",
        422,
        r"Unsupported value: \"\\x00&\": supported values: \"\"",
        "POST",
        body=b'{"metadata":{"name":"b"}}',
    ),
    "no choice of what a table includes": Odd(
        f"{MAPS}?includeObject=%00",
        400,
        r"includeObject: Invalid value: \"\\u0000\": must be 'Metadata'",
        accept="application/json;as=Table;v=v1;g=meta.k8s.io",
    ),
    "a token and a version": Odd(f"{MAPS}?continue=x&resourceVersion=1", 400, "invalid continue token"),
}


async def test_odd_requests_are_answered_as_kubernetes_does(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        tls = as_admin(server)
        answers = {
            what: await ask(
                server.secure.port,
                odd.target,
                method=odd.method,
                headers={"Accept": odd.accept, "Content-Type": odd.sent},
                body=odd.body,
                tls=tls,
            )
            for what, odd in ODD.items()
        }

    assert {what: answer.status for what, answer in answers.items()} == {what: odd.status for what, odd in ODD.items()}
    assert [what for what, odd in ODD.items() if odd.says not in answers[what].text] == []


async def test_a_precondition_of_an_event_is_told_of_its_stored_kind(tmp_path: Path) -> None:
    event = {"metadata": {"name": "e", "namespace": "default"}, "involvedObject": {"namespace": "default"}}
    async with running(tmp_path) as server:
        port, tls = server.secure.port, as_admin(server)
        headers = {"Content-Type": "application/json"}
        await ask(port, EVENTS, method="POST", headers=headers, body=orjson.dumps(event), tls=tls)

        newer, condition = f"{EVENTS.replace('/api/v1', '/apis/events.k8s.io/v1')}/e", b'{"preconditions":{"uid":"x"}}'
        answer = await ask(port, newer, method="DELETE", headers=headers, body=condition, tls=tls)

    assert answer.status == 409
    assert 'Operation cannot be fulfilled on Event \\"e\\": the UID' in answer.text


async def test_what_cannot_be_read_has_no_word_for_caches(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await ask(server.secure.port, "/api/v1/proxy", tls=as_admin(server))

    assert (answer.status, "cache-control" in answer.headers) == (500, False)


async def test_who_is_told_of_no_route_is_not_told_that_it_is_old(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        tls, port = as_admin(server), server.secure.port
        refused = await ask(port, STATUSES, headers={"Accept": "text/html"}, tls=tls)
        answered = await ask(port, STATUSES, tls=tls)

    assert "warning" not in refused.headers
    assert "deprecated" in answered.headers["warning"]


async def test_a_patch_without_a_route_is_not_told_that_its_resource_is_old(tmp_path: Path) -> None:
    path = "/api/v1/namespaces/default/endpoints/none"
    async with running(tmp_path) as server:
        tls, port = as_admin(server), server.secure.port
        refused = await ask(port, path, method="PATCH", headers={"Content-Type": YAML}, body=b"a: b", tls=tls)
        missing = await ask(port, path, method="PATCH", headers={"Content-Type": MERGE}, body=b"{}", tls=tls)

    assert (refused.status, "warning" in refused.headers) == (415, False)
    assert (missing.status, "warning" in missing.headers) == (404, True)


async def test_a_uid_is_a_precondition_of_a_binding_on_the_subresource_alone(tmp_path: Path) -> None:
    pods = "/api/v1/namespaces/default/pods"
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    binding = {"metadata": {"name": "p", "uid": "other"}, "target": {"kind": "Node", "name": "n"}}
    async with running(tmp_path, disable_admission_plugins=["ServiceAccount"]) as server:

        async def post(path: str, body: object) -> int:
            answer = await ask(
                server.secure.port,
                path,
                method="POST",
                headers={"Content-Type": "application/json"},
                body=orjson.dumps(body),
                tls=as_admin(server),
            )
            return answer.status

        made = await post(pods, pod)
        on_the_subresource = await post(f"{pods}/p/binding", binding)
        on_the_resource = await post("/api/v1/namespaces/default/bindings", binding)

    assert (made, on_the_subresource, on_the_resource) == (201, 409, 201)
