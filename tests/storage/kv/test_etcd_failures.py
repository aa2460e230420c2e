"""Failures: the errors of failed calls, and whether the request may have taken effect."""

import pytest

from aio_apiserver.storage import errors
from aio_apiserver.storage.etcd_config import EndpointAddress, parse_endpoint
from aio_apiserver.storage.kv.etcd import failures, versions
from aio_apiserver.storage.kv.etcd.failures import Effect
from aio_apiserver.storage.kv.etcd.grpc_status import Code

UNAVAILABLE = Code.UNAVAILABLE
ANSWERS = [
    ("etcdserver: mvcc: required revision has been compacted", errors.Compacted, Effect.REFUSED),
    ("etcdserver: mvcc: required revision is a future revision", errors.FutureRevision, Effect.REFUSED),
    ("etcdserver: mvcc: database space exceeded", errors.NoSpace, Effect.REFUSED),
    ("etcdserver: request is too large", errors.TooLarge, Effect.REFUSED),
    ("grpc: received message larger than max (3 vs. 2)", errors.TooLarge, Effect.REFUSED),
    ("etcdserver: requested lease not found", errors.LeaseNotFound, Effect.REFUSED),
    ("etcdserver: permission denied", errors.Unauthenticated, Effect.REFUSED),
    ("etcdserver: authentication failed, invalid user ID or password", errors.Unauthenticated, Effect.REFUSED),
    ("etcdserver: invalid auth token", errors.Unauthenticated, Effect.RENEW),
    ("etcdserver: user name is empty", errors.Unauthenticated, Effect.RENEW),
    ("etcdserver: revision of auth store is old", errors.Unauthenticated, Effect.RENEW),
    ("etcdserver: corrupt cluster", errors.Corrupt, Effect.REFUSED),
    ("etcdserver: no leader", errors.Unavailable, Effect.RETRY),
    ("etcdserver: too many requests", errors.Unavailable, Effect.RETRY),
    ("etcdserver: rpc not supported for learner", errors.Unavailable, Effect.RETRY),
    ("etcdserver: leader changed", errors.Unavailable, Effect.UNKNOWN),
    ("etcdserver: server stopped", errors.Unavailable, Effect.UNKNOWN),
    ("etcdserver: request timed out", errors.DeadlineExceeded, Effect.UNKNOWN),
    ("etcdserver: request timed out, possibly due to connection lost", errors.DeadlineExceeded, Effect.UNKNOWN),
    ("what no release of etcd has ever said", errors.Unavailable, Effect.UNKNOWN),
]


@pytest.mark.parametrize(("message", "error", "effect"), ANSWERS)
def test_an_answer_is_known_by_its_message(message: str, error: type[Exception], effect: Effect) -> None:
    failure = failures.of_answer(Code.UNKNOWN, message)

    assert type(failure.error) is error
    assert failure.effect is effect


@pytest.mark.parametrize(
    ("message", "effect"),
    [
        ("failed to connect to all addresses; last error: UNKNOWN: Connection refused", Effect.RETRY),
        ("DNS resolution failed for etcd:2379: C-ares status is not ARES_SUCCESS", Effect.RETRY),
        ("Socket closed", Effect.UNKNOWN),
        ("recvmsg:Connection reset by peer", Effect.UNKNOWN),
        ("keepalive watchdog timeout", Effect.UNKNOWN),
        ("", Effect.UNKNOWN),
    ],
)
def test_only_a_request_without_a_connection_was_certainly_not_sent(message: str, effect: Effect) -> None:
    failure = failures.of_answer(UNAVAILABLE, message)

    assert (failure.effect, failure.leave) == (effect, True)


def test_a_time_limit_leaves_the_outcome_open() -> None:
    failure = failures.of_answer(Code.DEADLINE_EXCEEDED, "Deadline Exceeded")

    assert type(failure.error) is errors.DeadlineExceeded
    assert (failure.effect, failure.leave) == (Effect.UNKNOWN, True)


@pytest.mark.parametrize(
    ("version", "is_reliable"),
    [
        ("3.3.27", False),
        ("3.4.24", False),
        ("3.4.25", True),
        ("3.5.1", False),
        ("3.5.7", False),
        ("3.5.8", True),
        ("3.5.30", True),
        ("3.6.0-alpha.0", True),
        ("4.0.0", True),
        ("not a version", False),
    ],
)
def test_progress_is_reliable_from_a_version_on(version: str, is_reliable: bool) -> None:
    assert versions.is_progress_reliable(versions.parse(version)) == is_reliable


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://10.0.0.1:2379", EndpointAddress("10.0.0.1:2379", is_secure=False)),
        ("https://etcd-0.etcd:2381/", EndpointAddress("etcd-0.etcd:2381", is_secure=True)),
        ("https://[fd00::1]:2379", EndpointAddress("[fd00::1]:2379", is_secure=True)),
        ("http://etcd", EndpointAddress("etcd:2379", is_secure=False)),
        ("10.0.0.1:2379", EndpointAddress("10.0.0.1:2379", is_secure=False)),
        ("unix:///run/etcd.sock", EndpointAddress("unix:/run/etcd.sock", is_secure=False)),
    ],
)
def test_an_endpoint_is_a_url(url: str, address: EndpointAddress) -> None:
    assert parse_endpoint(url) == address
