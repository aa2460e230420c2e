"""Causes: the words of the errors of stores, as the engines make them, and the flags that they concern."""

import pytest

from aio_apiserver.apiserver.endpoints.storage_causes import cause_of, explained

CAUSES = [
    ("little room left for data/store.db: 3 MiB", "the disk of --data-dir is nearly full"),
    ("no room left for data/store.db: database or disk is full", "the disk of --data-dir is full"),
    ("data/store.db: attempt to write a readonly database", "--data-dir is read-only"),
    ("alarm:NOSPACE of the embedded store: 9 MiB are in use", "--store-quota-bytes"),
    ("memberID:1 alarm:NOSPACE ", "NOSPACE"),
    ("failed to connect: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "--etcd-cafile"),
    ("the connection was lost: [SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert", "--etcd-certfile"),
    ("etcd asks for a user, and none is configured", "--etcd-certfile"),
    ("etcdserver: permission denied", "--etcd-prefix"),
    ("the server does not speak HTTP/2: a frame of 3940676 bytes", "no etcd"),
    ("the connection was lost: the server has closed it", "wants https"),
    ("the server has closed the connection before the TLS handshake", "wants http"),
    ("failed to connect: [SSL: WRONG_VERSION_NUMBER] wrong version number", "wants http"),
    ("failed to connect: the host has no address: Name or service not known", "--etcd-servers names a host"),
    ("failed to connect to all addresses: no answer in time", "does not answer in time"),
    ("keepalive: the server has gone silent", "does not answer in time"),
    ("failed to connect to all addresses: Connection refused", "no server listens"),
]


@pytest.mark.parametrize(("reason", "words"), CAUSES)
def test_a_cause_is_known_by_the_words_of_the_error(reason: str, words: str) -> None:
    assert words in cause_of(reason)


def test_a_reason_without_a_known_cause_stays_as_it_is() -> None:
    assert explained("disk full") == "disk full"
