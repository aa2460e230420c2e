"""The number of usable CPU cores, which --workers=auto means."""

import os
from pathlib import Path

import pytest

from aio_apiserver.apiserver.config.flags import cores

ALLOWED = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "usable"),
    [
        ("50000 100000\n", 1),
        ("100000 100000\n", 1),
        ("1000000 100000\n", min(ALLOWED, 10)),
        ("max 100000\n", ALLOWED),
        ("", ALLOWED),
    ],
)
def test_a_quota_of_a_container_counts_when_it_is_smaller(tmp_path: Path, quota: str, usable: int) -> None:
    (tmp_path / "cpu.max").write_text(quota)

    assert cores.usable(tmp_path / "cpu.max") == usable


def test_without_a_quota_the_allowed_cores_count(tmp_path: Path) -> None:
    assert cores.usable(tmp_path / "none") == ALLOWED
