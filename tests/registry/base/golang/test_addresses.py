"""What Go says of texts that are no addresses."""

import pytest

from aio_apiserver.registry.base.golang import addresses


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "unable to parse IP"),
        ("%eth", "missing IPv6 address"),
        ("1.2.3", "IPv4 address too short"),
        ("1.2.3.4.5", "IPv4 address too long"),
        ("1..2.3", 'IPv4 field must have at least one digit (at ".2.3")'),
        ("01.2.3.4", "IPv4 field has octet with leading zero"),
        ("256.1.1.1", "IPv4 field has value >255"),
        ("1.2.3.x", 'unexpected character (at "x")'),
        ("2001:db8:::68", 'each colon-separated field must have at least one digit (at ":68")'),
        ("1::2::3", 'multiple :: in address (at ":3")'),
        ("1:2:3", "address string too short"),
        ("12345::", 'each group must have 4 or less digits (at "12345::")'),
        ("::%", "zone must be a non-empty string"),
        ("1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'),
        ("1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros"),
        ("1:2:3:4:5:6:7:", 'colon must be followed by more characters (at ":")'),
        ("1:1.2.3.4", 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'),
        ("1x:", 'unexpected character, want colon (at "x:")'),
    ],
)
def test_the_first_mistake_of_an_address_is_told(text: str, why: str) -> None:
    assert addresses.address_mistake(text).partition("): ")[2] == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.0", "no '/'"),
        ("a/8", 'ParseAddr("a"): unable to parse IP'),
        ("1.2.3/8", 'ParseAddr("1.2.3"): IPv4 address too short'),
        ("10.0.0.0/08", 'bad bits after slash: "08"'),
        ("10.0.0.0/33", "prefix length out of range"),
        ("::1%e/64", "IPv6 zones cannot be present in a prefix"),
    ],
)
def test_the_first_mistake_of_a_prefix_is_told(text: str, why: str) -> None:
    assert addresses.prefix_mistake(text).partition("): ")[2] == why
