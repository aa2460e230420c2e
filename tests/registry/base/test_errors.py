import gzip
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import Cause, Details, StatusError
from aio_apiserver.registry.base.names import GroupKind, GroupResource
from tests.paths import CASSETTES

PODS = GroupResource("", "pods")
DEPLOYMENTS = GroupResource("apps", "deployments")
CAUSE = Cause("FieldValueRequired", "Required value", "spec.x")

EVERY_KIND: list[tuple[StatusError, int, str, str, dict[str, Any] | None]] = [
    (errors.StatusError("odd"), 500, "", "odd", None),
    (errors.BadRequest("why"), 400, "BadRequest", "why", None),
    (errors.Unauthorized(), 401, "Unauthorized", "Unauthorized", None),
    (errors.Forbidden(None, "", why="w"), 403, "Forbidden", "forbidden: w", {}),
    (errors.Forbidden(PODS, "", why="w"), 403, "Forbidden", "pods is forbidden: w", {"kind": "pods"}),
    (errors.Forbidden(GroupResource("", ""), "p", why="w"), 403, "Forbidden", "forbidden: w", {"name": "p"}),
    (
        errors.Forbidden(DEPLOYMENTS, "d", why="w"),
        403,
        "Forbidden",
        'deployments.apps "d" is forbidden: w',
        {"name": "d", "group": "apps", "kind": "deployments"},
    ),
    (errors.NotFound(PODS, "p"), 404, "NotFound", 'pods "p" not found', {"name": "p", "kind": "pods"}),
    (
        errors.MethodNotSupported(PODS, "watch"),
        405,
        "MethodNotAllowed",
        'watch is not supported on resources of kind "pods"',
        {"kind": "pods"},
    ),
    (
        errors.NotAcceptable(["a/b", "c/d"]),
        406,
        "NotAcceptable",
        "only the following media types are accepted: a/b, c/d",
        None,
    ),
    (errors.AlreadyExists(PODS, "p"), 409, "AlreadyExists", 'pods "p" already exists', {"name": "p", "kind": "pods"}),
    (
        errors.GenerateNameConflict(PODS, "p"),
        409,
        "AlreadyExists",
        'pods "p" already exists, the server was not able to generate a unique name for the object',
        {"name": "p", "kind": "pods", "retryAfterSeconds": 1},
    ),
    (
        errors.Conflict(PODS, "p", why="w"),
        409,
        "Conflict",
        'Operation cannot be fulfilled on pods "p": w',
        {"name": "p", "kind": "pods"},
    ),
    (
        errors.ApplyConflict("Apply failed", [CAUSE]),
        409,
        "Conflict",
        "Apply failed",
        {"causes": [{"reason": "FieldValueRequired", "message": "Required value", "field": "spec.x"}]},
    ),
    (errors.Expired("e"), 410, "Expired", "e", None),
    (errors.RequestEntityTooLarge("w"), 413, "RequestEntityTooLarge", "Request entity too large: w", None),
    (
        errors.UnsupportedMediaType(["a/b"]),
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: a/b",
        None,
    ),
    (
        errors.Unprocessable(),
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
        {},
    ),
    (errors.TooManyRequests("busy"), 429, "TooManyRequests", "busy", {"retryAfterSeconds": 1}),
    (
        errors.InternalError("w"),
        500,
        "InternalError",
        "Internal error occurred: w",
        {"causes": [{"message": "w"}]},
    ),
    (
        errors.ServerTimeout(PODS, "list", retry_after_seconds=2),
        500,
        "ServerTimeout",
        "The list operation against pods could not be completed at this time, please try again.",
        {"name": "list", "kind": "pods", "retryAfterSeconds": 2},
    ),
    (errors.ServiceUnavailable("s"), 503, "ServiceUnavailable", "s", None),
    (errors.Timeout("w"), 504, "Timeout", "Timeout: w", {}),
    (
        errors.TooLargeResourceVersion(9, 5),
        504,
        "Timeout",
        "Timeout: Too large resource version: 9, current: 5",
        {
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        },
    ),
]


@pytest.mark.parametrize(("error", "code", "reason", "message", "details"), EVERY_KIND)
def test_every_error_has_kube_apiservers_status(
    error: StatusError, code: int, reason: str, message: str, details: dict[str, Any] | None
) -> None:
    expected: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    expected["message"] = message
    if reason:
        expected["reason"] = reason
    if details is not None:
        expected["details"] = details
    expected["code"] = code

    assert orjson.dumps(error.status()) == orjson.dumps(expected)
    assert str(error) == message


def test_one_cause_stands_alone_and_several_in_brackets() -> None:
    kind = GroupKind("apps", "Deployment")
    other = Cause("FieldValueInvalid", "Invalid value: 1", "spec.y")

    assert errors.Invalid(kind, "d", [CAUSE]).message == 'Deployment.apps "d" is invalid: spec.x: Required value'
    assert errors.Invalid(kind, "d", [CAUSE, other]).message == (
        'Deployment.apps "d" is invalid: [spec.x: Required value, spec.y: Invalid value: 1]'
    )
    assert errors.Invalid(kind, "", []).message == 'Deployment.apps "" is invalid'


def test_a_repeated_cause_is_listed_twice_and_told_once() -> None:
    error = errors.Invalid(GroupKind("", "ConfigMap"), "c", [CAUSE, CAUSE])

    assert error.message == 'ConfigMap "c" is invalid: spec.x: Required value'
    assert len(error.status()["details"]["causes"]) == 2


def test_names_are_quoted_in_messages() -> None:
    assert errors.NotFound(PODS, "a\x00b").message == 'pods "a\\x00b" not found'


@pytest.mark.parametrize(
    ("error", "seconds"), [(errors.BadRequest("b"), 0), (errors.TooManyRequests("t", retry_after_seconds=3), 3)]
)
def test_knows_when_to_ask_again(error: StatusError, seconds: int) -> None:
    assert error.retry_after_seconds == seconds


def recorded_failures() -> Iterator[dict[str, Any]]:
    """Every recorded failure Status of kube-apiserver."""
    for path in CASSETTES.glob("*.json.gz"):
        for scenario in orjson.loads(gzip.decompress(path.read_bytes()))["scenarios"]:
            for step in scenario["steps"]:
                body = step.get("expect", {}).get("body")
                if isinstance(body, dict) and body.get("kind") == "Status" and body.get("status") == "Failure":
                    yield body


def test_fields_stand_in_the_recorded_order() -> None:
    details = Details(name="n", group="g", kind="k", uid="u", causes=[CAUSE], retry_after_seconds=1)
    ours = errors.StatusError("m", details=details)
    ours.reason = "R"
    order = list(ours.status())
    detail_order = list(details.as_dict())

    failures = list(recorded_failures())
    assert failures
    for body in failures:
        assert list(body) == [name for name in order if name in body]
        found = body.get("details", {})
        assert list(found) == [name for name in detail_order if name in found]
