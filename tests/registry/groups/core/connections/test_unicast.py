"""Tests which addresses proxies accept, and other forms of loopback and link-local addresses (CVE-2020-8562)."""

import pytest

from aio_apiserver.registry.groups.core.connections.unicast import is_global


@pytest.mark.parametrize(
    "address",
    ["10.1.2.3", "203.0.113.7", "fd00::1", "2001:db8::1", "64:ff9b::a01:203", "2002:0a01:0203::1", "::ffff:10.0.0.1"],
)
def test_a_unicast_address_is_global(address: str) -> None:
    assert is_global(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.1.2.3", "0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "255.255.255.255"),  # noqa: S104
        *("::", "::1", "fe80::1", "ff02::1", "fe80::1%lo"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:0:0"),
        *("::127.0.0.1", "::169.254.169.254", "::2"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "64:ff9b::"),
        *("2002:7f00:1::", "2002:a9fe:a9fe::1", "2002::1"),
        "2001:0:1:2:3:4:80ff:fffe",
        *("2001:db8::5efe:127.0.0.1", "2001:db8::200:5efe:7f00:1"),
        *("", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1.1"),
    ],
)
def test_loopback_and_link_local_addresses_are_not_global(address: str) -> None:
    assert not is_global(address)
