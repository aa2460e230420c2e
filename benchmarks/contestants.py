"""contestants: the API servers that side_by_side measures: this one on each store, and kube-apiserver when it is named.

KUBE_APISERVER names a kube-apiserver, and ETCD_BIN an etcd. Must hold: each contestant has data of its own, and all
processes end with the context.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from benchmarks import engines, processes
from benchmarks.processes import Serving

Start = Callable[[Path], AbstractContextManager[Serving]]


def named(names: Sequence[str] = ()) -> Mapping[str, Start]:
    """The contestants, the reference first. names: those wanted; all when empty."""
    binary = os.environ.get("KUBE_APISERVER")
    known: dict[str, Start] = {}
    if binary:
        known["kube-apiserver"] = lambda directory: _kube_apiserver(Path(binary), directory)
    known |= {"SQLite": lambda directory: processes.server(directory, "SQLite"), "etcd": _on_etcd}
    if (os.cpu_count() or 1) > 1:
        known["SQLite, all cores"] = lambda directory: processes.server(directory, "SQLite, all cores", workers="auto")
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"there is no contestant {', '.join(unknown)}; there are {', '.join(known)}")
    return {name: start for name, start in known.items() if not names or name in names}


@contextmanager
def started(starts: Mapping[str, Start]) -> Iterator[Sequence[Serving]]:
    """All contestants, each in a directory of its own."""
    with ExitStack() as stack:
        yield [stack.enter_context(start(stack.enter_context(engines.directory()))) for start in starts.values()]


@contextmanager
def _on_etcd(directory: Path) -> Iterator[Serving]:
    with engines.member(directory) as member, processes.server(directory, "etcd", etcd_servers=member.endpoint) as ours:
        yield ours


@contextmanager
def _kube_apiserver(binary: Path, directory: Path) -> Iterator[Serving]:
    with engines.member(directory) as member, processes.kube_apiserver(binary, directory, member.endpoint) as serving:
        yield serving
