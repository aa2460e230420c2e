"""layers: python -m benchmarks.layers, the Python calls of a GET and of a page by layers of the server, as Markdown.

The sums are those of call_counts.py. They tell where the distance to a bare aiohttp application comes from.
"""

import sys
import types
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath

from aio_apiserver.testing import Server
from benchmarks import call_counts

_REQUESTS = ("GET pod", "page of a list", "protobuf page")
_WARM = 20
_DEPTH = 2
"""The folders of a layer's name: apiserver/filters."""


class Layers:
    """Counts the calls of this project's functions by their folders, in the thread that it is installed in."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def hear(self, frame: types.FrameType, event: str, _argument: object) -> None:
        """What sys.setprofile calls."""
        _, found, inside = frame.f_code.co_filename.rpartition("/aio_apiserver/")
        if event == "call" and found:
            self.calls["/".join(PurePosixPath(inside).parts[:-1][:_DEPTH])] += 1


def counted() -> Mapping[str, Mapping[str, int]]:
    """The calls of each request by layer."""
    with Server(testing=False) as server:
        client = call_counts.Client(server)
        for number in range(call_counts.PAGE):
            client.request("POST", call_counts.PODS, call_counts.pod(f"a{number:05}"))
        acts = call_counts.acts(client)
        found = {name: _layers(server, acts[name]) for name in _REQUESTS}
        client.connection.close()
    return found


def table(found: Mapping[str, Mapping[str, int]]) -> str:
    """Layers as rows, the busiest first."""
    names = sorted(
        {layer for calls in found.values() for layer in calls}, key=lambda one: -found[_REQUESTS[0]].get(one, 0)
    )
    lines = [f"| Python calls in | {' | '.join(found)} |", f"| --- |{' ---: |' * len(found)}"]
    lines += [f"| `{name}` | {' | '.join(str(calls.get(name, 0)) for calls in found.values())} |" for name in names]
    return "\n".join([*lines, f"| all | {' | '.join(str(sum(calls.values())) for calls in found.values())} |"])


def _layers(server: Server, act: call_counts.Act) -> Mapping[str, int]:
    for number in range(_WARM):
        act(number)
    layers = Layers()
    call_counts.on_its_loop(server, partial(sys.setprofile, layers.hear))
    act(_WARM)
    call_counts.on_its_loop(server, partial(sys.setprofile, None))
    return layers.calls


if __name__ == "__main__":
    print(table(counted()))
