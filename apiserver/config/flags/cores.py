"""Cores: the number of CPU cores that this process can use.

A container often has a quota of CPU time (cgroup v2) that is smaller than the number of cores it sees.
"""

import os
from math import ceil
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable(quota_file: Path = _QUOTA) -> int:
    """The cores that the scheduler may use for this process, or the quota when it is smaller."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, _quota(quota_file) or allowed))


def _quota(path: Path) -> int:
    """The quota in whole cores, rounded up; 0 without one."""
    try:
        limit, period = path.read_text().split()
        return ceil(int(limit) / int(period))
    except (OSError, ValueError):
        return 0
