"""Label selectors."""

import pytest

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.machinery.selectors import labels
from aio_apiserver.storage.selection import Operator, Requirement


def requirement(name: str, operator: Operator, *values: str) -> Requirement:
    return Requirement(name, operator, frozenset(values))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("a", (Requirement("a", Operator.EXISTS),)),
        ("!a", (Requirement("a", Operator.DOES_NOT_EXIST),)),
        ("a=b", (requirement("a", Operator.IN, "b"),)),
        ("a == b", (requirement("a", Operator.IN, "b"),)),
        ("a=", (requirement("a", Operator.IN, ""),)),
        ("a!=b", (requirement("a", Operator.NOT_IN, "b"),)),
        ("a in (b,c)", (requirement("a", Operator.IN, "b", "c"),)),
        ("a in ()", (requirement("a", Operator.IN, ""),)),
        ("a in (b,)", (requirement("a", Operator.IN, "b", ""),)),
        ("a notin (b)", (requirement("a", Operator.NOT_IN, "b"),)),
        ("in in (in)", (requirement("in", Operator.IN, "in"),)),
        ("a>1", (requirement("a", Operator.GREATER, "1"),)),
        ("a<1", (requirement("a", Operator.LESS, "1"),)),
        ("b,a", (Requirement("a", Operator.EXISTS), Requirement("b", Operator.EXISTS))),
        ("x.io/a=b", (requirement("x.io/a", Operator.IN, "b"),)),
    ],
)
def test_a_selector_is_read(text: str, expected: tuple[Requirement, ...]) -> None:
    assert labels.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a\0b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a=b\0c", "found 'c', expected: ',' or 'end of string'"),
        ("a in (x\0y)", "unable to parse requirement: found 'y', expected: ',' or ')'"),
    ],
)
def test_a_broken_selector_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        labels.parse(text)

    assert caught.value.message == message


@pytest.mark.parametrize("text", ["a>x", "-a", "a=-", "a/b/c", "a>" + "9" * 5000])
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="unable to parse requirement: "):
        labels.parse(text)


@pytest.mark.parametrize(
    ("text", "same"), [("\0", ""), ("!a\0", "!a"), ("a=b\0,c", "a=b,c"), ("a,\0b", "a,b"), (" \0a", "")]
)
def test_a_nul_behind_a_token_is_skipped_and_another_one_ends_the_selector(text: str, same: str) -> None:
    assert labels.parse(text) == labels.parse(same)
