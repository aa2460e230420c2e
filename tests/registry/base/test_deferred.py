"""Deferred: modules that are imported at the first use of an attribute."""

import pytest

from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang import quoting


def test_it_gives_what_the_module_has() -> None:
    deferred = Deferred("aio_apiserver.registry.base.golang.quoting")

    assert deferred.quote is quoting.quote


def test_what_a_module_does_not_have_is_missing() -> None:
    deferred = Deferred("aio_apiserver.registry.base.golang.quoting")

    with pytest.raises(AttributeError, match="nonsense"):
        deferred.nonsense  # noqa: B018 - reading it is what is tested
