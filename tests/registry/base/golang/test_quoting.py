import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.registry.base.golang.quoting import quote


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("a b", '"a b"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("a\\b", '"a\\\\b"'),
        ("a\n\t\r", '"a\\n\\t\\r"'),
        ("\x00\x07\x7f", '"\\x00\\a\\x7f"'),
        ("é✓", '"é✓"'),
        ("\u200b\ufeff", '"\\u200b\\ufeff"'),
        ("\U000e0001", '"\\U000e0001"'),
        ("\u00a0", '"\\u00a0"'),
        ("\udcff", '"\\xff"'),
    ],
)
def test_quotes_as_go_does(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@given(st.text())
def test_the_result_can_always_be_sent(text: str) -> None:
    quoted = quote(text)

    assert quoted.isprintable()
    quoted.encode()
