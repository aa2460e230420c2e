"""Simulated: the functions of a test that stand for programs and ports of simulated pods, and the known servers.

Must hold: a function that was added later is called before an earlier one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from aio_apiserver.apiserver.simulated_kubelet import channels
from aio_apiserver.apiserver.simulated_kubelet.channels import ContainerStreams
from aio_apiserver.base.unstructured import Object

_PAGE = (
    b"<!DOCTYPE html>\n<title>Welcome to nginx!</title>\n<h1>Welcome to nginx!</h1>\n<p>This server is simulated.</p>\n"
)
_WEB_PORT = 80


class ExecCall(Struct, frozen=True):
    """A command that a client runs in a container. `stdin` is None when the client sends no input."""

    namespace: str
    pod: str
    container: str
    command: Sequence[str]
    stdin: bytes | None


class ExecResult(Struct, frozen=True):
    """What a command writes, and its exit code."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


ExecFunction = Callable[[ExecCall], ExecResult | str | int | None]
"""Returns the result: a text for the output, a number for the exit code, or None for a command of other functions."""
PortFunction = Callable[[bytes], bytes]
"""Gets the bytes that a client has sent, piece by piece, and returns the answer."""
Run = Callable[[ContainerStreams], Awaitable[int]]


class SimulatedFunctions:
    """The functions of one server. They are called in threads."""

    def __init__(self) -> None:
        self._commands: list[ExecFunction] = []
        self._ports: dict[int, PortFunction] = {}

    def exec(self, function: ExecFunction) -> None:
        """Let a function run the commands of `kubectl exec`. It returns a text, an exit code, or both as ExecResult.

        None leaves the command to the functions before it, and then to the simulated shell.
        """
        self._commands.insert(0, function)

    def port(self, port: int, function: PortFunction) -> None:
        """Let a function answer on a forwarded port of all pods. It gets the bytes that arrive, piece by piece."""
        self._ports[port] = function

    def clear(self) -> None:
        """Forget all functions."""
        self._commands.clear()
        self._ports.clear()

    def function_at(self, pod: Object, port: int) -> PortFunction | None:
        """The function for a port of a pod."""
        images = [str(one.get("image", "")).rpartition("/")[2].partition(":")[0] for one in pod["spec"]["containers"]]
        known = _welcome if port == _WEB_PORT and "nginx" in images else None
        return self._ports.get(port) or known

    async def run(
        self, pod: Object, container: str, command: Sequence[str], streams: ContainerStreams, *, has_input: bool
    ) -> int | None:
        """The exit code of the first function that takes the command; None when no function does."""
        if not self._commands:
            return None
        stdin = await _all_of(streams) if has_input else None
        metadata = pod["metadata"]
        call = ExecCall(metadata["namespace"], metadata["name"], container, tuple(command), stdin)
        for function in self._commands:
            result = await asyncio.to_thread(function, call)
            if result is not None:
                return await _send(_result(result), streams)
        return None


async def _all_of(streams: ContainerStreams) -> bytes:
    data = b""
    while more := await streams.read():
        data += more
    return data


def _result(given: ExecResult | str | int) -> ExecResult:
    if isinstance(given, ExecResult):
        return given
    return ExecResult(stdout=given) if isinstance(given, str) else ExecResult(code=given)


async def _send(result: ExecResult, streams: ContainerStreams) -> int:
    for channel, text in ((channels.STDOUT, result.stdout), (channels.STDERR, result.stderr)):
        if text:
            await streams.write(channel, text.encode())
    return result.code


def _welcome(data: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(_PAGE)}\r\nConnection: close\r\n\r\n"
    return head.encode() + (b"" if data.startswith(b"HEAD ") else _PAGE)


def no_port(pod: Object, port: int) -> str:
    """The error for a port that nothing serves."""
    name = pod["metadata"]["name"]
    return f"the pod {name} is simulated and nothing answers on its port {port}; server.simulate.port gives an answer"
