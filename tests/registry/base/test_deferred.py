"""Deferred: modules that are imported at the first use of an attribute."""

import sys
from pathlib import Path

import pytest

from aio_apiserver.registry.base.deferred import Deferred, load
from aio_apiserver.registry.base.golang import quoting


def test_it_gives_what_the_module_has() -> None:
    deferred = Deferred("aio_apiserver.registry.base.golang.quoting")

    assert deferred.quote is quoting.quote


def test_what_a_module_does_not_have_is_missing() -> None:
    deferred = Deferred("aio_apiserver.registry.base.golang.quoting")

    with pytest.raises(AttributeError, match="nonsense"):
        deferred.nonsense  # noqa: B018 - reading it is what is tested


def test_it_can_be_imported_before_its_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_module.py").write_text("fact = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    deferred = Deferred("late_module")
    before = "late_module" in sys.modules

    load(deferred)

    assert (before, "late_module" in sys.modules, deferred.fact) == (False, True, 1)
