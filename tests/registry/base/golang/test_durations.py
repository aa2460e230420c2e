import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.registry.base.golang import durations


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("+5s", 5),
        ("1m30s", 90),
        ("1h2m3.5s", 3723.5),
        ("100ms", 0.1),
        (".5s", 0.5),
        ("1.s", 1),
        ("-1.5h", -5400),
        ("3us", 3e-6),
        ("3µs", 3e-6),
        ("7ns", 7e-9),
    ],
)
def test_reads_gos_durations(text: str, seconds: float) -> None:
    assert durations.parse(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("s", 'time: invalid duration "s"'),
        (".s", 'time: invalid duration ".s"'),
        ("5", 'time: missing unit in duration "5"'),
        ("1x", 'time: unknown unit "x" in duration "1x"'),
        ("1s 2s", 'time: unknown unit "s " in duration "1s 2s"'),
        ("-9223372036854775809", 'time: invalid duration "-9223372036854775809"'),
        ("\ufeff", r'time: invalid duration "\xef\xbb\xbf"'),
        ('5"\\\n', r'time: unknown unit "\"\\\x0a" in duration "5\"\\\x0a"'),
        ("3000000h", 'time: invalid duration "3000000h"'),
    ],
)
def test_refuses_what_is_none_in_gos_words(text: str, message: str) -> None:
    with pytest.raises(durations.InvalidDuration) as refusal:
        durations.parse(text)

    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (60, "1m0s"),
        (90, "1m30s"),
        (3600, "1h0m0s"),
        (0.25, "250ms"),
        (1.5, "1.5s"),
        (-2, "-2s"),
        (2e-6, "2µs"),
    ],
)
def test_shows_them_as_go_does(seconds: float, text: str) -> None:
    assert durations.show(seconds) == text


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_what_is_shown_reads_back(microseconds: int) -> None:
    seconds = microseconds / 1e6

    assert durations.parse(durations.show(seconds)) == pytest.approx(seconds)


@given(st.text(max_size=20))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        durations.parse(text)
    except durations.InvalidDuration:
        return
