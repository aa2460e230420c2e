import ipaddress
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire.advertising import advertised


def address(**flags: Any) -> str:
    return advertised(Settings(data_dir=Path("nowhere"), **flags), 6443).address


def test_what_is_set_is_advertised() -> None:
    assert address(advertise_address="10.1.2.3", bind_address="10.4.5.6") == "10.1.2.3"


def test_otherwise_the_address_that_it_listens_on() -> None:
    assert address(bind_address="10.4.5.6") == "10.4.5.6"


@pytest.mark.parametrize("bound", ["127.0.0.1", "::1", "::"])
def test_who_listens_on_loopback_or_everywhere_advertises_an_address_of_the_machine(bound: str) -> None:
    assert address(bind_address=bound) == address()


def test_an_address_that_no_endpoint_may_have_is_not_advertised() -> None:
    found = address(advertise_address="169.254.1.1")

    assert not found or not ipaddress.ip_address(found).is_link_local


def test_the_first_address_of_the_services_is_the_servers_own() -> None:
    assert advertised(Settings(data_dir=Path("nowhere")), 6443).service_address == "10.0.0.1"
