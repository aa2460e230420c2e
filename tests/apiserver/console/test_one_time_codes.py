"""Codes of one-time links."""

from aio_apiserver.apiserver.console.one_time_codes import SECONDS, OneTimeCodes


def test_a_code_ends_after_an_hour_and_many_codes_end_the_oldest() -> None:
    now = 0.0
    codes = OneTimeCodes(lambda: now)
    late, *others = [codes.new_code() for _ in range(17)]

    assert not codes.redeem(late)
    assert codes.redeem(others[0])
    now = SECONDS
    assert not codes.redeem(others[1])
