"""Testing: API servers inside the process of a test, with faults, snapshots and a clock; pytest fixtures for them.

These are the public names; docs/testing.md says how to use them. pytest loads the plugin wherever this project is
installed, so the package itself loads nothing. Each name loads its own module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aio_apiserver.apiserver.simulated_kubelet.simulated import ExecCall as ExecCall
    from aio_apiserver.apiserver.simulated_kubelet.simulated import ExecResult as ExecResult
    from aio_apiserver.storage.snapshot import Snapshot as Snapshot
    from aio_apiserver.testing import golden
    from aio_apiserver.testing.bench.fault_kinds import Fault as Fault
    from aio_apiserver.testing.bench.faults import ActiveFault as ActiveFault
    from aio_apiserver.testing.bench.recorded_request import RecordedRequest as RecordedRequest
    from aio_apiserver.testing.bench.request_list import RequestList as RequestList
    from aio_apiserver.testing.bench.request_record import RequestRecord as RequestRecord
    from aio_apiserver.testing.bench.server_clock import ServerClock as ServerClock
    from aio_apiserver.testing.client import Refused as Refused
    from aio_apiserver.testing.hooks import Hook as Hook
    from aio_apiserver.testing.reviews import Denied as Denied
    from aio_apiserver.testing.reviews import Review as Review
    from aio_apiserver.testing.server import Server as Server
    from aio_apiserver.testing.users import User as User

_PLACES = {
    "ActiveFault": "testing.bench.faults",
    "Denied": "testing.reviews",
    "ExecCall": "apiserver.simulated_kubelet.simulated",
    "ExecResult": "apiserver.simulated_kubelet.simulated",
    "Fault": "testing.bench.fault_kinds",
    "Hook": "testing.hooks",
    "RecordedRequest": "testing.bench.recorded_request",
    "Refused": "testing.client",
    "RequestList": "testing.bench.request_list",
    "RequestRecord": "testing.bench.request_record",
    "Review": "testing.reviews",
    "Server": "testing.server",
    "ServerClock": "testing.bench.server_clock",
    "Snapshot": "storage.snapshot",
    "User": "testing.users",
    "golden": "testing",
}
"""The module of each name."""

__all__ = [
    "ActiveFault",
    "Denied",
    "ExecCall",
    "ExecResult",
    "Fault",
    "Hook",
    "RecordedRequest",
    "Refused",
    "RequestList",
    "RequestRecord",
    "Review",
    "Server",
    "ServerClock",
    "Snapshot",
    "User",
    "golden",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = f"aio_apiserver.{_PLACES[name]}"
    return import_module(f"{place}.{name}") if name == "golden" else getattr(import_module(place), name)
