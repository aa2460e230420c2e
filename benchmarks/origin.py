"""origin: the commit and the machine that a page of measurements names."""

import os
import platform
import subprocess


def commit() -> str:
    """The commit of the working tree, in Git's short form."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def machine() -> str:
    """The machine and its Python."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
