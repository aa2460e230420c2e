"""The words of Go's network packages for failed connections."""

import errno
import socket

import pytest

from aio_apiserver.apiserver.outgoing import dial_words
from aio_apiserver.registry.base.locations import Location, Passage

LOCATION = Location(passage=Passage.PROXY, scheme="http", host="node.example", port="10250")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (
            OSError(errno.ECONNREFUSED, "Connect call failed"),
            "dial tcp node.example:10250: connect: connection refused",
        ),
        (OSError(errno.EHOSTUNREACH, "Connect call failed"), "dial tcp node.example:10250: connect: no route to host"),
        (OSError("Multiple exceptions"), "dial tcp node.example:10250: connect: Multiple exceptions"),
        (socket.gaierror(-2, "Name or service not known"), "dial tcp: lookup node.example: no such host"),
        (TimeoutError(), "dial tcp node.example:10250: i/o timeout"),
    ],
)
def test_a_backend_that_is_not_reached_is_told_in_the_words_of_go(failure: Exception, words: str) -> None:
    assert dial_words.of_relay(failure, LOCATION) == words


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (OSError(errno.ETIMEDOUT, "x"), "read: connection timed out"),
        (OSError(errno.ENETUNREACH, "x"), "read: network is unreachable"),
        (ConnectionResetError("closing"), "read: connection reset by peer"),
        (ValueError("http: response body too large"), "http: response body too large"),
    ],
)
def test_a_webhook_that_does_not_answer_is_told_in_the_words_of_go(failure: Exception, words: str) -> None:
    assert dial_words.of_call(failure) == words
