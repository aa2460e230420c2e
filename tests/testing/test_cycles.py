"""A few cycles; `make soak` runs a thousand."""

from pathlib import Path

import pytest

from tests.testing import cycles


def test_nothing_is_left_of_servers_that_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert cycles.run(8, tmp_path, seed=1)


def test_nothing_is_left_of_programs_that_are_interrupted(tmp_path: Path) -> None:
    assert cycles.interrupt(4, tmp_path, seed=1)
