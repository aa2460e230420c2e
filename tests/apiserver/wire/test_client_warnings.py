from aio_apiserver.apiserver.wire.client_warnings import ITEM_LIMIT, TOTAL_LIMIT, Warnings


def headers_of(*texts: str) -> list[str]:
    warnings = Warnings()
    for text in texts:
        warnings.add(text)
    return warnings.headers()


def test_warnings_keep_their_order_and_come_once() -> None:
    assert headers_of("b", "a", "b", "") == ['299 - "b"', '299 - "a"']


def test_quotes_and_backslashes_are_escaped() -> None:
    assert headers_of('unknown field "a\\b"') == ['299 - "unknown field \\"a\\\\b\\""']


def test_what_a_header_cannot_carry_is_dropped() -> None:
    assert headers_of("a\r\nSet-Cookie: b", "tab\t", "next line\x85", "ü", "mark\ufeff") == [
        '299 - "ü"',
        '299 - "mark\ufeff"',
    ]


def test_too_much_is_shortened_and_then_cut() -> None:
    headers = headers_of(*(f"{number:04d}" + "x" * 1000 for number in range(100)))

    assert headers[0] == '299 - "0000' + "x" * (ITEM_LIMIT - 4) + '"'
    assert len(headers) == TOTAL_LIMIT // ITEM_LIMIT
