"""Properties of transformers for any value, order of providers and damage."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.transformers.aescbc import AESCBC
from aio_apiserver.storage.transformers.aesgcm import AESGCM
from aio_apiserver.storage.transformers.secretbox import Secretbox
from aio_apiserver.storage.transformers.transformer import (
    ENCRYPTED_PREFIX,
    IDENTITY,
    Encrypting,
    Prefixed,
    PrefixTransformers,
)
from tests.storage.transformers.steps import at_once, flipped

LINKS = (
    Prefixed(b"k8s:enc:aescbc:v1:key1:", Encrypting(AESCBC(b"1" * 16))),
    Prefixed(b"k8s:enc:aescbc:v1:key2:", Encrypting(AESCBC(b"2" * 32))),
    Prefixed(b"k8s:enc:aesgcm:v1:key1:", Encrypting(AESGCM(b"3" * 24))),
    Prefixed(b"k8s:enc:secretbox:v1:key1:", Encrypting(Secretbox(b"4" * 32))),
    Prefixed(b"", IDENTITY),
)
AUTHENTICATED = LINKS[2:4]

contexts = st.text(min_size=1).map(lambda text: b"/registry/" + text.encode(errors="replace"))
values = st.binary().filter(lambda value: not value.startswith(ENCRYPTED_PREFIX))


@settings(deadline=None)
@given(value=values, context=contexts, writers=st.permutations(LINKS), readers=st.permutations(LINKS))
def test_every_order_reads_what_every_other_has_written(
    value: bytes, context: bytes, writers: Sequence[Prefixed], readers: Sequence[Prefixed]
) -> None:
    stored = at_once(PrefixTransformers(writers, Counter()).to_storage(value, context))

    plain = at_once(PrefixTransformers(readers, Counter()).from_storage(stored, context))

    assert plain.data == value
    assert plain.is_stale == (writers[0] is not readers[0])


@settings(deadline=None)
@given(value=st.binary(), context=contexts, writer=st.sampled_from(AUTHENTICATED), data=st.data())
def test_a_single_changed_bit_is_corrupt(value: bytes, context: bytes, writer: Prefixed, data: st.DataObject) -> None:
    stored = at_once(PrefixTransformers([writer], Counter()).to_storage(value, context))
    bit = data.draw(st.integers(0, len(stored) * 8 - 1))

    with pytest.raises(Corrupt):
        at_once(PrefixTransformers(AUTHENTICATED, Counter()).from_storage(flipped(stored, bit), context))


@settings(deadline=None)
@given(value=st.binary(), context=contexts, writer=st.sampled_from(AUTHENTICATED), data=st.data())
def test_a_value_that_was_cut_is_corrupt(value: bytes, context: bytes, writer: Prefixed, data: st.DataObject) -> None:
    stored = at_once(PrefixTransformers([writer], Counter()).to_storage(value, context))
    size = data.draw(st.integers(0, len(stored) - 1))

    with pytest.raises(Corrupt):
        at_once(PrefixTransformers(AUTHENTICATED, Counter()).from_storage(stored[:size], context))


@settings(deadline=None)
@given(stored=st.binary().map(lambda noise: b"k8s:enc:aescbc:v1:key1:" + noise), context=contexts)
def test_aescbc_reads_noise_as_bytes_or_as_corrupt_and_nothing_else(stored: bytes, context: bytes) -> None:
    try:
        plain = at_once(PrefixTransformers(LINKS, Counter()).from_storage(stored, context))
    except Corrupt:
        return
    assert len(plain.data) < len(stored)
