"""Tests the order of API versions."""

from aio_apiserver.registry.groups.apiextensions.definitions import versions


def test_stable_versions_come_first_and_newer_ones_before_older_ones() -> None:
    given = ["foo10", "v1alpha1", "v1", "v3beta1", "v11alpha2", "v10", "foo1", "v1beta2", "v2", "v1beta1"]

    ordered = sorted(given, key=versions.priority)

    assert ordered == ["v10", "v2", "v1", "v3beta1", "v1beta2", "v1beta1", "v11alpha2", "v1alpha1", "foo1", "foo10"]
