"""Deferred: modules that are loaded when something of them is asked for."""

import subprocess
import sys

import pytest

from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang import quoting

_LOADED = "import sys, apiserver.command, apiserver.program; print(*sys.modules)"


def test_it_gives_what_the_module_has() -> None:
    deferred = Deferred("aio_apiserver.registry.base.golang.quoting")

    assert deferred.quote is quoting.quote


def test_what_a_module_does_not_have_is_missing() -> None:
    deferred = Deferred("aio_apiserver.registry.base.golang.quoting")

    with pytest.raises(AttributeError, match="nonsense"):
        deferred.nonsense  # noqa: B018 - reading it is what is tested


def test_a_start_loads_no_expressions_and_no_rules_of_definitions() -> None:
    loaded = subprocess.run([sys.executable, "-c", _LOADED], check=True, capture_output=True, text=True).stdout.split()

    assert "aio_apiserver.registry.groups.admissionregistration.expressions" in loaded
    assert not {
        "aio_apiserver.registry.machinery.cel.environment",
        "aio_apiserver.registry.groups.apiextensions.definition_rules",
        "google.protobuf",
        "jwt",
    } & set(loaded)
