"""Launching: turns the process of the command line into the supervisor of --workers.

The supervisor replaces the program in this process, so that it does not keep the memory of what the command line has
imported. The process id stays.
"""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire import binding
from aio_apiserver.apiserver.workers.slots import Plan

_SUPERVISOR = "aio_apiserver.apiserver.workers.supervisor"


def become_supervisor(settings: Settings, arguments: Sequence[str]) -> NoReturn:
    """Continue as the supervisor of workers with these arguments. Raises OSError when a port is not available."""
    insecure = [(binding.LOOPBACK, settings.insecure_port)] if settings.insecure_port else []
    ports = [(settings.bind_address, settings.secure_port), *insecure]
    if not settings.permit_port_sharing:
        for address, port in ports:
            binding.bind(address, port, is_shared=False).close()
    plan = Plan(
        workers=settings.workers,
        ports=ports,
        has_volatile_store=settings.backend == "memory",
        log_format=settings.logging_format,
        verbosity=settings.v,
        vmodule=settings.vmodule,
    )
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-m", _SUPERVISOR, plan.dump(), *arguments])  # noqa: S606 this program
