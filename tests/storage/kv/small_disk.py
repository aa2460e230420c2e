"""small_disk: a small file system in memory, where the user may mount one."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BLOCKS = bytes(1024 * 1024), bytes(4096)
"""A disk is filled with large blocks, and then with small ones."""


@contextmanager
def mounted(mount_point: Path, *, megabytes: int) -> Iterator[bool]:
    """Mount a file system there. Yields False when the user may not."""
    is_mounted = _mount(mount_point, megabytes)
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", str(mount_point)], check=True)


def may_mount() -> bool:
    with tempfile.TemporaryDirectory() as directory, mounted(Path(directory), megabytes=1) as is_mounted:
        return is_mounted


def make_read_only(mount_point: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(mount_point)], check=True)


def fill(ballast: Path, *, room: int) -> None:
    """Fill the file system of a file with it, but for so many bytes."""
    with ballast.open("wb", buffering=0) as file:
        for block in _BLOCKS:
            with contextlib.suppress(OSError):
                while file.write(block) == len(block):
                    pass
    os.truncate(ballast, ballast.stat().st_size - room)


def _mount(mount_point: Path, megabytes: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(mount_point)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
