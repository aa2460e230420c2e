"""Log files: rotation, removal, and who may read them."""

import gzip
import os
import resource
from pathlib import Path

import pytest

from aio_apiserver.apiserver.auditing.log_files import LogFile, Rotation, SharedLogFile, tidy
from aio_apiserver.base.clock import ManualClock

LINE = b"x" * 9 + b"\n"


async def test_a_full_file_gets_another_name(tmp_path: Path) -> None:
    clock = ManualClock()
    log = LogFile(tmp_path / "new" / "audit.log", Rotation(most_bytes=20), clock)

    for _ in range(5):
        log.write(LINE)
    await log.close()

    assert sorted((path.name, path.stat().st_size) for path in (tmp_path / "new").iterdir()) == [
        ("audit-2023-11-14T22-13-20.000.log", 20),
        ("audit-2023-11-14T22-13-20.001.log", 20),
        ("audit.log", 10),
    ]


async def test_a_file_is_appended_to_and_is_its_owners_alone(tmp_path: Path) -> None:
    for _ in range(2):
        log = LogFile(tmp_path / "audit.log", Rotation(), ManualClock())
        log.write(LINE)
        await log.close()

    assert (tmp_path / "audit.log").read_bytes() == LINE * 2
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600


async def test_a_line_that_fits_no_file_is_refused(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "audit.log", Rotation(most_bytes=5), ManualClock())

    with pytest.raises(OSError, match="write length 10 exceeds maximum file size 5"):
        log.write(LINE)
    await log.close()


def test_old_files_are_compressed_and_removed(tmp_path: Path) -> None:
    names = ("2023-11-14T00-00-00.000", "2023-11-13T00-00-00.000", "2023-11-12T00-00-00.000", "2023-11-01T00-00-00.000")
    for name in names:
        (tmp_path / f"audit-{name}.log").write_bytes(LINE)
    (tmp_path / "audit-notes.log").write_bytes(LINE)

    tidy(tmp_path / "audit.log", Rotation(most_days=3, most_files=2, compresses=True), ManualClock().now())

    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["audit-2023-11-13T00-00-00.000.log.gz", "audit-2023-11-14T00-00-00.000.log.gz", "audit-notes.log"]
    assert gzip.decompress((tmp_path / left[0]).read_bytes()) == LINE


async def test_old_files_are_removed_from_the_first_line_on(tmp_path: Path) -> None:
    for day in range(1, 4):
        (tmp_path / f"audit-2023-11-0{day}T00-00-00.000.log").write_bytes(LINE)

    log = LogFile(tmp_path / "audit.log", Rotation(most_files=1), ManualClock())
    log.write(LINE)
    await log.close()

    assert sorted(os.listdir(tmp_path)) == ["audit-2023-11-03T00-00-00.000.log", "audit.log"]  # noqa: PTH208


async def test_a_full_disk_leaves_no_part_of_a_line(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = LogFile(tmp_path / "audit.log", Rotation(), ManualClock())
    log.write(LINE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (15, before[1]))
        with pytest.raises(OSError, match="File too large"):
            log.write(LINE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    log.write(LINE)
    await log.close()

    assert (tmp_path / "audit.log").read_bytes() == LINE * 2


async def test_several_processes_append_and_rotate_without_losing_a_line(tmp_path: Path) -> None:
    clock = ManualClock()
    path, rotation = tmp_path / "audit.log", Rotation(most_bytes=50)
    logs = [SharedLogFile(path, rotation, clock) for _ in range(3)]
    lines = [b"%09d\n" % number for number in range(60)]

    for number, line in enumerate(lines):
        logs[number % 3].write(line)
    for log in logs:
        await log.close()

    written = [(tmp_path / name).read_bytes() for name in sorted(os.listdir(tmp_path))]  # noqa: PTH208
    assert b"".join(written) == b"".join(lines)
    assert {len(one) for one in written} == {50}
