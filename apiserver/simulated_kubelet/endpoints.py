"""Endpoints: the paths of the kubelet API that kube-apiserver calls.

    GET        /containerLogs/{namespace}/{pod}/{container}
    GET, POST  /exec/{namespace}/{pod}/{container}, /attach/..., /portForward/{namespace}/{pod}
    GET        /healthz

Must hold: the client shows the certificate that the server keeps for simulated kubelets. A pod on another node is not
found.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from io import BytesIO
from urllib.parse import parse_qs

from aiohttp import web

from aio_apiserver.apiserver.simulated_kubelet import (
    channels,
    local_ports,
    local_processes,
    programs,
    simulated,
    upgrading,
)
from aio_apiserver.apiserver.simulated_kubelet.channels import ContainerStreams
from aio_apiserver.apiserver.simulated_kubelet.logs import ContainerLogs, LogQuery
from aio_apiserver.apiserver.simulated_kubelet.simulated import SimulatedFunctions
from aio_apiserver.apiserver.simulated_kubelet.upgrading import ForwardedPorts, KubeletRefusal, Query
from aio_apiserver.base.budget import BudgetExceeded
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.containers import courses
from aio_apiserver.simulation.containers.process_budget import KILLED
from aio_apiserver.simulation.kubelet import simulated_sizes
from aio_apiserver.simulation.kubelet.container_logs import NoLog
from aio_apiserver.simulation.kubelet.container_worlds import ContainerWorlds, restarts_of, status_of
from aio_apiserver.simulation.model import container_contents
from aio_apiserver.simulation.processes.local_containers import LocalContainers
from aio_apiserver.simulation.processes.process_log import ProcessLog

_CONTAINER_PARTS, _POD_PARTS = 3, 2
_PORT, _HIGHEST_PORT = re.compile(r"[0-9]{1,5}"), 65_535
IsAllowed = Callable[[web.BaseRequest], bool]


class KubeletEndpoints:
    """The kubelet of all simulated nodes of a server.

    containers: those that run as processes of this machine. With them, ports of this machine are forwarded.
    """

    def __init__(
        self,
        worlds: ContainerWorlds,
        clock: Clock,
        functions: SimulatedFunctions,
        is_allowed: IsAllowed,
        containers: LocalContainers | None,
    ) -> None:
        self._worlds = worlds
        self._clock = clock
        self._functions = functions
        self._logging = ContainerLogs(worlds, clock, containers)
        self._is_allowed = is_allowed
        self._containers = containers
        self._paths: Mapping[str, Callable[[web.BaseRequest, Sequence[str], Query], Awaitable[web.StreamResponse]]] = {
            "containerLogs": self._logs,
            "exec": self._exec,
            "attach": self._attach,
            "portForward": self._forward,
        }

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        if not self._is_allowed(request):
            return web.Response(status=401, text="Unauthorized")
        first, *parts = request.path.strip("/").split("/")
        if first == "healthz":
            return web.Response(text="ok")
        if first not in self._paths:
            return web.Response(status=404, text="404 page not found\n")
        try:
            return await self._paths[first](request, parts, parse_qs(request.query_string))
        except KubeletRefusal as exc:
            return web.Response(status=exc.status, text=str(exc))
        except BudgetExceeded as exc:
            return web.Response(status=500, text=f"the pod is too much for the simulation: {exc}")

    async def _container(self, parts: Sequence[str]) -> tuple[Object, Object]:
        """The pod and the container of a path. Raises KubeletRefusal."""
        if len(parts) != _CONTAINER_PARTS:
            raise KubeletRefusal(404, "404 page not found\n")
        pod = await self._pod(parts)
        container = container_contents.container_of(pod, parts[2])
        if container is None:
            raise KubeletRefusal(404, f"container {parts[2]} not found in pod {parts[1]}_{parts[0]}")
        return pod, container

    async def _pod(self, parts: Sequence[str]) -> Object:
        """The pod of a path. Raises KubeletRefusal, BudgetExceeded."""
        pod = await self._worlds.pod(parts[0], parts[1]) if len(parts) >= _POD_PARTS else None
        if pod is None:
            raise KubeletRefusal(404, "pod does not exist")
        simulated_sizes.check(pod)
        return pod

    async def _logs(self, request: web.BaseRequest, parts: Sequence[str], query: Query) -> web.StreamResponse:
        pod, container = await self._container(parts)
        try:
            return await self._logging.send(request, pod, container, LogQuery.of(query))
        except NoLog as exc:
            raise KubeletRefusal(400, str(exc)) from exc

    async def _exec(self, request: web.BaseRequest, parts: Sequence[str], query: Query) -> web.StreamResponse:
        pod, container = await self._container(parts)
        if not query.get("command"):
            raise KubeletRefusal(400, "no command to execute")
        if "running" not in (status_of(pod, container["name"]).get("state") or {}):
            raise KubeletRefusal(500, f"container {container['name']} is not running")
        return await self._run(request, pod, container, query["command"], query, is_local=True)

    async def _attach(self, request: web.BaseRequest, parts: Sequence[str], query: Query) -> web.StreamResponse:
        """Attach to the main program. One that reads input begins now."""
        pod, container = await self._container(parts)
        log = self._logging.log_of_process(pod, container)
        if log is not None:
            return await self._show(request, log, query)
        argv = courses.argv_of(container, courses.env_of(container)) or ("sh",)
        has_input = bool(container.get("stdin"))
        is_main = has_input and pod["spec"].get("restartPolicy") != "Always" and container in pod["spec"]["containers"]
        return await self._run(request, pod, container, argv, query, is_local=has_input, is_main=is_main)

    async def _show(self, request: web.BaseRequest, log: ProcessLog, query: Query) -> web.StreamResponse:
        """Send what a process writes from now on, until it ends."""
        streams = await upgrading.streams_of(request, query, follows_size=False)

        async def work() -> None:
            async for piece in log.pieces(follows=True, from_end=True):
                await streams.write(piece.channel, piece.data)
            await streams.finish(channels.succeeded())

        await _while_connected(streams, work())
        return streams.response

    async def _run(
        self,
        request: web.BaseRequest,
        pod: Object,
        container: Object,
        argv: Sequence[str],
        query: Query,
        *,
        is_local: bool,
        is_main: bool = False,
    ) -> web.StreamResponse:
        """Run a program with the streams of the client. With the main program the pod ends, too.

        is_local: whether it may be a process of this machine.
        """
        tty, has_input = "tty" in query, "input" in query
        streams = await upgrading.streams_of(request, query, follows_size=tty and self._containers is not None)

        async def work() -> None:
            code = await self._functions.run(pod, container["name"], argv, streams, has_input=has_input)
            if code is None and is_local and self._containers is not None:
                number = restarts_of(pod, container["name"])
                command = await self._containers.command(pod, container, number, argv)
                code = await local_processes.run(command, streams, tty=tty, has_input=has_input)
            if code is None:
                code = await self._simulate(pod, container, argv, streams, tty=tty, has_input=has_input)
            if is_main:
                await self._worlds.end(pod, code)
            await streams.finish(channels.ended(code))

        await _while_connected(streams, work())
        return streams.response

    async def _simulate(
        self,
        pod: Object,
        container: Object,
        argv: Sequence[str],
        streams: ContainerStreams,
        *,
        tty: bool,
        has_input: bool,
    ) -> int:
        """Run a program in the simulated shell. Returns its exit code."""
        try:
            shell = await self._worlds.shell(pod, container)
        except BudgetExceeded as exc:
            text = f"the variables and files of the container are too much for the simulation: {exc}\n"
            await streams.write(channels.STDOUT if tty else channels.STDERR, text.encode())
            return KILLED
        shell.stdin = None if has_input else BytesIO()
        return await programs.run(shell, argv, streams, self._clock, self._worlds.share_of(pod), tty=tty)

    async def _forward(self, request: web.BaseRequest, parts: Sequence[str], query: Query) -> web.StreamResponse:
        pod = await self._pod(parts)
        texts = (one for text in query.get("port") or () for one in text.split(","))
        numbers = (int(one) for one in texts if _PORT.fullmatch(one))
        forwarded = await upgrading.ports_of(request, [one for one in numbers if one <= _HIGHEST_PORT])
        tasks = Tasks()
        try:
            receiving = tasks.spawn(forwarded.streams.receive(), name="input of forwarded ports")
            tasks.spawn(self._serve_all(forwarded, pod, tasks), name="forwarded ports")
            await receiving
        finally:
            await tasks.close()
        return forwarded.streams.response

    async def _serve_all(self, forwarded: ForwardedPorts, pod: Object, tasks: Tasks) -> None:
        """Serve the ports as the client opens them."""
        while True:
            channel, port = await forwarded.next_opened()
            tasks.spawn(self._serve(forwarded, pod, channel, port), name=f"port {port}")

    async def _serve(self, forwarded: ForwardedPorts, pod: Object, channel: int, port: int) -> None:
        """Serve one port, whose errors have the next channel."""
        streams, function = forwarded.streams, self._functions.function_at(pod, port)
        if function is None and self._containers is not None:
            await local_ports.relay(streams, channel, port)
        elif function is None:
            await streams.write(channel + 1, simulated.no_port(pod, port).encode())
        while function is not None and (data := await streams.read(channel)):
            if answer := await asyncio.to_thread(function, data):
                await streams.write(channel, answer)
        await forwarded.end(channel)


async def _while_connected(streams: ContainerStreams, work: Coroutine[None, None, None]) -> None:
    """Work until it is done, or until the client goes."""
    tasks = Tasks()
    try:
        working = tasks.spawn(work, name="simulated program")
        receiving = tasks.spawn(streams.receive(), name="input of a simulated program")
        await asyncio.wait((working, receiving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        await tasks.close()
