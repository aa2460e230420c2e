"""Transformer: identity and prefix transformers: which one encrypts, which decrypt, and the errors."""

from collections import Counter

import pytest

from aio_apiserver.storage.errors import Corrupt, Unavailable
from aio_apiserver.storage.transformers import transformer
from aio_apiserver.storage.transformers.transformer import (
    IDENTITY,
    Counts,
    Encrypting,
    Plain,
    Prefixed,
    PrefixTransformers,
)
from tests.storage.transformers.steps import at_once

CONTEXT = b"/registry/secrets/default/db"


class Reversing:
    """A cipher for tests: the data reversed, with its key as prefix; refuses data of another key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def encrypt(self, data: bytes, _context: bytes) -> bytes:
        return self._key + data[::-1]

    def decrypt(self, data: bytes, context: bytes) -> bytes:
        if not data.startswith(self._key):
            raise transformer.corrupt(context, "another key")
        return data[len(self._key) :][::-1]


class Locked:
    """A transformer whose key is not available."""

    is_identity = False

    async def from_storage(self, data: bytes, context: bytes) -> Plain:
        raise Unavailable("locked")

    async def to_storage(self, data: bytes, context: bytes) -> bytes:
        raise Unavailable("locked")


OLD = Prefixed(b"k8s:enc:aescbc:v1:old:", Encrypting(Reversing(b"old")))
NEW = Prefixed(b"k8s:enc:aescbc:v1:new:", Encrypting(Reversing(b"new")))
PLAIN = Prefixed(b"", IDENTITY)


def chain(*links: Prefixed, counts: Counts | None = None) -> PrefixTransformers:
    return PrefixTransformers(links, Counter() if counts is None else counts)


def test_identity_stores_values_as_they_are() -> None:
    stored = at_once(IDENTITY.to_storage(b"value", CONTEXT))

    assert stored == b"value"
    assert at_once(IDENTITY.from_storage(stored, CONTEXT)) == Plain(b"value", is_stale=False)


def test_identity_refuses_to_read_what_is_encrypted() -> None:
    with pytest.raises(Corrupt, match="identity transformer tried to read encrypted data") as caught:
        at_once(IDENTITY.from_storage(b"k8s:enc:aescbc:v1:key1:\x80", CONTEXT))

    assert caught.value.key == "/registry/secrets/default/db"
    assert "k8s:enc:aescbc:v1:key1:" in str(caught.value)


def test_identity_is_for_every_resource_of_a_server_without_encryption() -> None:
    assert transformer.identity_for("apps", "deployments") is IDENTITY


def test_the_first_writes_under_its_prefix() -> None:
    stored = at_once(chain(NEW, OLD).to_storage(b"value", CONTEXT))

    assert stored == b"k8s:enc:aescbc:v1:new:neweulav"


@pytest.mark.parametrize(("written_by", "is_stale"), [(NEW, False), (OLD, True), (PLAIN, True)])
def test_all_read_and_only_the_first_is_not_stale(written_by: Prefixed, is_stale: bool) -> None:
    stored = at_once(chain(written_by).to_storage(b"value", CONTEXT))

    plain = at_once(chain(NEW, OLD, PLAIN).from_storage(stored, CONTEXT))

    assert plain == Plain(b"value", is_stale=is_stale)


def test_plain_values_are_not_stale_where_identity_writes() -> None:
    plain = at_once(chain(PLAIN, OLD).from_storage(b"value", CONTEXT))

    assert plain == Plain(b"value", is_stale=False)


def test_identity_in_front_leaves_encrypted_values_to_the_others() -> None:
    stored = at_once(chain(OLD).to_storage(b"value", CONTEXT))

    plain = at_once(chain(PLAIN, OLD).from_storage(stored, CONTEXT))

    assert plain == Plain(b"value", is_stale=True)


def test_a_value_of_an_unknown_provider_is_corrupt_and_names_it() -> None:
    with pytest.raises(Corrupt) as caught:
        at_once(chain(NEW, PLAIN).from_storage(b"k8s:enc:aesgcm:v1:gone:\x00\xff", CONTEXT))

    assert str(caught.value) == (
        "data of /registry/secrets/default/db cannot be read: no matching prefix found, it was written with "
        "k8s:enc:aesgcm:v1:gone: list that provider and key in the encryption configuration of this resource"
    )


@pytest.mark.parametrize("data", [b"k8s:enc:", b"k8s:enc:\x00\xff", b"k8s:enc:kms:v1:", b"k8s:enc:" + b":" * 999])
def test_an_encrypted_value_without_a_proper_prefix_is_corrupt(data: bytes) -> None:
    with pytest.raises(Corrupt, match="no matching prefix found, it was written with an unknown provider"):
        at_once(chain(NEW, PLAIN).from_storage(data, CONTEXT))


def test_a_plain_value_without_identity_is_corrupt_and_says_what_to_do() -> None:
    with pytest.raises(Corrupt, match="no matching prefix found, it is not encrypted: list the identity provider"):
        at_once(chain(NEW).from_storage(b"value", CONTEXT))


def test_two_secrets_under_one_name_are_both_tried() -> None:
    again = Prefixed(NEW.prefix, Encrypting(Reversing(b"before")))
    stored = at_once(chain(again).to_storage(b"value", CONTEXT))

    plain = at_once(chain(NEW, again).from_storage(stored, CONTEXT))

    assert plain == Plain(b"value", is_stale=True)


def test_a_wrong_key_is_corrupt_and_names_resource_and_key() -> None:
    with pytest.raises(Corrupt) as caught:
        at_once(chain(NEW, PLAIN).from_storage(NEW.prefix + b"oldeulav", CONTEXT))

    assert str(caught.value) == (
        "data of /registry/secrets/default/db cannot be read: k8s:enc:aescbc:v1:new: another key"
    )


def test_a_key_that_cannot_be_had_is_unavailable_and_not_corrupt() -> None:
    locked = Prefixed(b"k8s:enc:kms:v2:vault:", Locked())

    with pytest.raises(Unavailable, match="locked"):
        at_once(chain(locked, PLAIN).from_storage(locked.prefix + b"data", CONTEXT))
    with pytest.raises(Unavailable, match="locked"):
        at_once(chain(locked, PLAIN).to_storage(b"value", CONTEXT))


def test_only_a_chain_of_identities_is_identity() -> None:
    assert chain(PLAIN).is_identity
    assert not chain(PLAIN, OLD).is_identity
    assert not chain(OLD, PLAIN).is_identity


def test_what_was_read_and_written_is_counted_by_writer() -> None:
    counts: Counts = Counter()
    links = chain(NEW, OLD, PLAIN, Prefixed(b"k8s:enc:kms:v2:vault:", Locked()), counts=counts)

    stored = at_once(links.to_storage(b"value", CONTEXT))
    at_once(links.from_storage(stored, CONTEXT))
    at_once(links.from_storage(b"value", CONTEXT))
    for broken in (OLD.prefix + b"no", b"k8s:enc:aescbc:v1:gone:", b"k8s:enc:kms:v2:vault:"):
        with pytest.raises((Corrupt, Unavailable)):
            at_once(links.from_storage(broken, CONTEXT))

    assert counts == {
        ("to_storage", "k8s:enc:aescbc:v1:new:"): 1,
        ("from_storage", "k8s:enc:aescbc:v1:new:"): 1,
        ("from_storage", "identity"): 1,
        ("from_storage_failed", "k8s:enc:aescbc:v1:old:"): 1,
        ("from_storage_failed", "k8s:enc:kms:v2:vault:"): 1,
        ("from_storage_failed", "unknown"): 1,
    }


def test_a_failed_write_is_counted() -> None:
    counts: Counts = Counter()

    with pytest.raises(Unavailable):
        at_once(chain(Prefixed(b"k8s:enc:kms:v2:vault:", Locked()), counts=counts).to_storage(b"value", CONTEXT))

    assert counts == {("to_storage_failed", "k8s:enc:kms:v2:vault:"): 1}
