"""Continue token: kube-apiserver's format and its messages for other texts."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.storage.errors import InvalidContinue
from aio_apiserver.storage.store import continue_token
from aio_apiserver.storage.store.continue_token import ContinueToken


def text_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def test_a_token_is_what_kube_apiserver_makes() -> None:
    assert continue_token.after("c1", 42) == text_of(b'{"v":"meta.k8s.io/v1","rv":42,"start":"c1\\u0000"}')


def test_a_token_of_kube_apiserver_is_understood() -> None:
    text = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYzFcdTAwMDAifQ"

    assert continue_token.decode(text) == ContinueToken("c1\0", continue_token.PRESENT)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1), st.integers(1, 2**63 - 1))
def test_tokens_survive_the_way_to_the_client_and_back(name: str, revision: int) -> None:
    key = f"namespace/{name}"

    assert continue_token.decode(continue_token.after(key, revision)) == ContinueToken(f"{key}\0", revision)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("garbage!", "illegal base64 data at input byte 7"),
        ("bogus", "illegal base64 data at input byte 4"),
        ("YWJj=", "illegal base64 data at input byte 4"),
        ("\ud800", "illegal base64 data at input byte 0"),
        ("YWJj", "invalid character 'a' looking for beginning of value"),
        ("zzz", "invalid character 'Ï' looking for beginning of value"),
        ("", "unexpected end of JSON input"),
        ("e30", "server does not recognize this encoded version "),
        (text_of(b"null"), "server does not recognize this encoded version "),
        (text_of(b"[]"), "json: cannot unmarshal array into Go value of type storage.continueToken"),
        (
            text_of(b'{"v":1}'),
            "json: cannot unmarshal number into Go struct field continueToken.v of type string",
        ),
        (
            text_of(b'{"v":"meta.k8s.io/v1","rv":"5"}'),
            "json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
        ),
        (
            text_of(b'{"v":"meta.k8s.io/v1","rv":1.5}'),
            "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64",
        ),
        (
            text_of(b'{"v":"meta.k8s.io/v1","rv":true}'),
            "json: cannot unmarshal bool into Go struct field continueToken.rv of type int64",
        ),
        (
            text_of(b'{"v":"meta.k8s.io/v2","rv":-1,"start":"c1\\u0000"}'),
            "server does not recognize this encoded version meta.k8s.io/v2",
        ),
        (
            text_of(b'{"v":"meta.k8s.io/v1","rv":0,"start":"c1\\u0000"}'),
            "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        (
            text_of(b'{"v":"meta.k8s.io/v1","rv":-1,"start":""}'),
            "encoded start key empty (version meta.k8s.io/v1)",
        ),
        (text_of(b'{"v":"meta.k8s.io/v1","rv":-1,"start":"../other/c1\\u0000"}'), "../other/c1\0"),
        (text_of(b'{"v":"meta.k8s.io/v1","rv":-1,"start":"a//b"}'), "a//b"),
        (text_of(b'{"v":"meta.k8s.io/v1","rv":-1,"start":"//a"}'), "//a"),
        (text_of(b'{"v":"meta.k8s.io/v1","rv":-1,"start":"a/"}'), "a/"),
        (text_of(b'{"v":"meta.k8s.io/v1","rv":-1,"start":"a/./b"}'), "a/./b"),
        (text_of(b'{"v":"meta.k8s.io/v1","rv":-1,"start":".."}'), ".."),
    ],
)
def test_what_is_not_a_token_is_refused_in_kube_apiservers_words(text: str, reason: str) -> None:
    with pytest.raises(InvalidContinue) as failure:
        continue_token.decode(text)

    assert str(failure.value) == f"invalid continue token: continue key is not valid: {reason}"


@given(st.text(max_size=60))
def test_no_text_makes_anything_but_a_token_or_a_refusal(text: str) -> None:
    try:
        token = continue_token.decode(text)
    except InvalidContinue:
        return
    assert token.start


@given(st.binary(max_size=60))
def test_no_content_makes_anything_but_a_token_or_a_refusal(content: bytes) -> None:
    try:
        token = continue_token.decode(text_of(content))
    except InvalidContinue:
        return
    assert token.start
