"""Errors of requests that fit no route."""

import pytest

from aio_apiserver.apiserver.wire import route_errors
from aio_apiserver.registry.base.errors import StatusError

ERRORS = [
    (route_errors.RouteNotFound(), 404, "NotFound", "the server could not find the requested resource"),
    (
        route_errors.RouteMethodNotAllowed(),
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    ),
    (
        route_errors.RouteNotAcceptable(["a/b"]),
        406,
        "NotAcceptable",
        "406: Not Acceptable\n\nAvailable representations: a/b",
    ),
    (route_errors.RouteUnsupportedMediaType(), 415, "UnsupportedMediaType", "415: Unsupported Media Type"),
]


@pytest.mark.parametrize(("error", "code", "reason", "message"), ERRORS)
def test_a_request_without_a_route_is_told_so_in_kube_apiservers_words(
    error: StatusError, code: int, reason: str, message: str
) -> None:
    assert error.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": {},
        "code": code,
    }
