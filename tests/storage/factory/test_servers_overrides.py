"""Servers overrides: the grammar of --etcd-servers-overrides, and which one a resource gets."""

import pytest

from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.factory import servers_overrides
from aio_apiserver.storage.factory.servers_overrides import ServersOverride


def test_an_override_names_a_resource_and_its_servers() -> None:
    assert servers_overrides.parse("apps/deployments#https://a:2379;https://b:2379") == ServersOverride(
        "apps", "deployments", ("https://a:2379", "https://b:2379")
    )


def test_the_core_group_is_empty() -> None:
    assert servers_overrides.parse("/events#http://a:2379") == ServersOverride("", "events", ("http://a:2379",))


@pytest.mark.parametrize(
    "text", ["", "events#http://a", "/events", "/events#", "/events#http://a;", "a/b/c#http://a", "/events#http://a#b"]
)
def test_what_is_not_of_the_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidOptions, match="must be of format: group/resource#servers"):
        servers_overrides.parse(text)


def test_a_resource_goes_before_its_group() -> None:
    overrides = [
        servers_overrides.parse("apps/deployments#http://own"),
        servers_overrides.parse("apps/*#http://group"),
    ]

    assert servers_overrides.servers_of(overrides, "apps", "deployments") == ("http://own",)
    assert servers_overrides.servers_of(overrides, "apps", "daemonsets") == ("http://group",)
    assert servers_overrides.servers_of(overrides, "", "pods") == ()


def test_server_lists_differ_in_more_than_their_order() -> None:
    overrides = [
        servers_overrides.parse(text) for text in ("/events#http://a;http://b", "/pods#http://c", "/nodes#http://b;http://a")
    ]  # fmt: skip

    assert servers_overrides.distinct(overrides) == [("http://a", "http://b"), ("http://c",)]
