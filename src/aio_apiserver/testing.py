"""testing: the public names of the test server and its tools. docs/testing.md says how to use them.

pytest loads the plugin wherever this project is installed, so this module loads nothing by itself. Each name loads its
own module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aio_apiserver.apiserver.bench.fault_kinds import Fault as Fault
    from aio_apiserver.apiserver.bench.faults import ActiveFault as ActiveFault
    from aio_apiserver.apiserver.bench.recorded_request import RecordedRequest as RecordedRequest
    from aio_apiserver.apiserver.bench.request_list import RequestList as RequestList
    from aio_apiserver.apiserver.bench.request_record import RequestRecord as RequestRecord
    from aio_apiserver.apiserver.bench.server_clock import ServerClock as ServerClock
    from aio_apiserver.apiserver.simulated_kubelet.simulated import ExecCall as ExecCall
    from aio_apiserver.apiserver.simulated_kubelet.simulated import ExecResult as ExecResult
    from aio_apiserver.apiserver.testing import golden
    from aio_apiserver.apiserver.testing.client import Refused as Refused
    from aio_apiserver.apiserver.testing.hooks import Hook as Hook
    from aio_apiserver.apiserver.testing.reviews import Denied as Denied
    from aio_apiserver.apiserver.testing.reviews import Review as Review
    from aio_apiserver.apiserver.testing.server import Server as Server
    from aio_apiserver.apiserver.testing.users import User as User
    from aio_apiserver.storage.kv.snapshot import Snapshot as Snapshot

_PLACES = {
    "ActiveFault": "apiserver.bench.faults",
    "Denied": "apiserver.testing.reviews",
    "ExecCall": "apiserver.simulated_kubelet.simulated",
    "ExecResult": "apiserver.simulated_kubelet.simulated",
    "Fault": "apiserver.bench.fault_kinds",
    "Hook": "apiserver.testing.hooks",
    "RecordedRequest": "apiserver.bench.recorded_request",
    "Refused": "apiserver.testing.client",
    "RequestList": "apiserver.bench.request_list",
    "RequestRecord": "apiserver.bench.request_record",
    "Review": "apiserver.testing.reviews",
    "Server": "apiserver.testing.server",
    "ServerClock": "apiserver.bench.server_clock",
    "Snapshot": "storage.kv.snapshot",
    "User": "apiserver.testing.users",
    "golden": "apiserver.testing",
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
