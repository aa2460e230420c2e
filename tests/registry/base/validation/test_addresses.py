"""Addresses and blocks: what is told of the odd ones."""

import pytest

from aio_apiserver.registry.base.validation import addresses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.1", []),
        ("FE80::1", []),
        ("010.0.0.1", ["must not have leading 0s"]),
        ("::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        ("fe80::1%eth0", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
        ("x", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
    ],
)
def test_an_address_is_told_what_is_wrong_with_it(text: str, expected: list[str]) -> None:
    assert addresses.check(text) == expected


def test_an_address_that_was_there_before_may_stay() -> None:
    assert addresses.validate_legacy("010.0.0.1", "ip", ["010.0.0.1"]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.0/24", ""),
        ("10.0.0.1/24", "must not have bits set beyond the prefix length"),
        ("10.0.0.0/024", "must not have leading 0s in IP or prefix length"),
        ("::ffff:1.2.3.0/120", "must not have an IPv4-mapped IPv6 address"),
        ("10.0.0.0", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
    ],
)
def test_a_block_is_told_what_is_wrong_with_it(text: str, expected: str) -> None:
    assert "".join(error.detail for error in addresses.validate_legacy_cidr(text, "cidr")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.2.3.4", []),
        ("01.2.3.4", ['ip: non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4"']),
        ("FE80::1", ['ip: IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")']),
    ],
)
def test_odd_spelling_is_warned_of(text: str, expected: list[str]) -> None:
    assert addresses.warn(text, "ip") == expected


def test_a_block_of_ipv4_in_the_clothes_of_ipv6_is_one_of_ipv4() -> None:
    mapped, plain = addresses.parse_cidr("::ffff:10.0.0.0/104"), addresses.parse_cidr("10.0.0.0/8")
    assert mapped is not None
    assert plain is not None

    assert addresses.version_of(mapped) == 4
    assert addresses.is_strictly_within(mapped, plain)
    assert not addresses.is_strictly_within(plain, mapped)
