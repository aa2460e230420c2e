"""The embedded store over time: a clock that jumps, a full disk and a restart; `make soak` writes millions of times."""

from pathlib import Path

from tests.reliability import aging
from tests.reliability.aging import Aging
from tests.storage.kv import small_disk


async def test_a_store_outlasts_jumps_of_the_clock_a_full_disk_and_a_restart(tmp_path: Path) -> None:
    with small_disk.mounted(tmp_path, megabytes=48) as has_disk:
        seen = await Aging(tmp_path / "data", writes=1_600, leases=10, has_disk=has_disk).run()

    assert seen.counts["lease updates"] == 1_600
    assert seen.counts["full disks"] == has_disk
    assert seen.most[aging.SHARE] < 1
