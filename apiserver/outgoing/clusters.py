"""Clusters: a client of the cluster that a kubeconfig names, with its certificates, tokens or credential plugin.

It is for commands. Must hold: redirects are not followed, so that no credential goes to another server. Messages of
failures name the URL, and have no credentials. A request that was not answered is not repeated. A document has a limit
of bytes and of time.
"""

import asyncio
import os
import ssl
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from aiohttp import hdrs
from msgspec import Struct

from aio_apiserver.apiserver.outgoing import client, dial_words, webhook_credentials
from aio_apiserver.apiserver.outgoing.webhook_credentials import Credential
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.storage.encryption import strict_yaml

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 300.0
_MOST_BYTES = 256 << 20
_LONGEST_REFUSAL = 64 * 1024
_LONGEST_MESSAGE = 1_000
_LEAST_ERROR = 300
_EXEC_INFO = "KUBERNETES_EXEC_INFO"


class ClusterFailed(ValueError):
    """The cluster does not answer, or refuses. status: of its answer; 0 without one."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class TooLong(ClusterFailed):
    """The cluster's answer is longer than the caller wants to read."""


class ClusterConfig(Struct, frozen=True):
    """A cluster and a user of a kubeconfig. directory: the base of relative paths."""

    server: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    directory: Path


def default_path() -> Path:
    """The kubeconfig that kubectl uses: the first of $KUBECONFIG, or ~/.kube/config."""
    named = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return Path(named) if named else Path.home() / ".kube" / "config"


def chosen(path: str, context: str, other: Path | None = None) -> ClusterConfig:
    """The cluster of a kubeconfig file. Without a path, that of another file if it exists, or of kubectl's.

    Raises OSError, ValueError.
    """
    if path:
        return read(Path(path).expanduser(), context)
    found = other if other is not None and other.exists() else default_path()
    if not found.exists():
        raise ValueError(f"there is no {found}: name a kubeconfig with --kubeconfig")
    return read(found, context)


def read(path: Path, context: str = "") -> ClusterConfig:
    """The cluster of a context, or of the current one. Raises OSError, ValueError."""
    try:
        config = strict_yaml.load(path.read_bytes())
        if not isinstance(config, dict):
            raise ValueError("it has no clusters")
        chosen = _named(config, "contexts", "context", context or config.get("current-context") or "")
        cluster = _named(config, "clusters", "cluster", chosen.get("cluster", ""))
        user = _named(config, "users", "user", chosen["user"]) if chosen.get("user") else {}
        return ClusterConfig(_server(cluster), cluster, user, path.parent)
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise ValueError(f"{path}: it is no kubeconfig to use: {exc}") from exc


class Cluster:
    """An open client."""

    def __init__(self, session: aiohttp.ClientSession, config: ClusterConfig, credential: Credential) -> None:
        self.url = config.server
        self._session = session
        self._tls = _tls(config, credential) if config.server.startswith("https:") else None
        self._credential = credential

    async def request(self, method: str, path: str, document: Any = None, **headers: str) -> Any:
        """The JSON of an answer. Raises ClusterFailed."""
        value, _ = await self._answered(self.answer(method, path, document, **headers), path, _MOST_BYTES, _MOST_BYTES)
        return value

    async def document(self, path: str, *, most_bytes: int, most_values: int) -> tuple[Any, int]:
        """The JSON at a path, and its size. Raises TooLong beyond so many bytes, or maps and lists; ClusterFailed."""
        return await self._answered(self.answer(hdrs.METH_GET, path), path, most_bytes, most_values)

    async def _answered(
        self,
        answering: AbstractAsyncContextManager[aiohttp.ClientResponse],
        path: str,
        most_bytes: int,
        most_values: int,
    ) -> tuple[Any, int]:
        """The JSON of an answer, and its size."""
        url = f"{self.url}{path}"
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), answering as answer:
                body = await _read(answer, most_bytes)
            if body.count(b"{") + body.count(b"[") > most_values:
                raise TooLong(f"{url}: the answer has more than {most_values} maps and lists")
            return orjson.loads(body), len(body)
        except TimeoutError as exc:
            raise ClusterFailed(f"{url}: no answer within {_ANSWER_SECONDS:.0f} seconds") from exc
        except orjson.JSONDecodeError as exc:
            raise ClusterFailed(f"{url}: the answer is no JSON") from exc

    @asynccontextmanager
    async def answer(
        self, method: str, path: str, document: Any = None, **headers: str
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A successful answer, whose body is still to be read. Raises ClusterFailed."""
        given = {hdrs.CONTENT_TYPE: "application/json", hdrs.ACCEPT: "application/json", **headers}
        try:
            async with self._session.request(
                method,
                f"{self.url}{path}",
                data=orjson.dumps(document) if document is not None else None,
                headers={**given, **self._credential.headers()},
                ssl=self._tls or True,
                allow_redirects=False,
            ) as answer:
                if answer.status >= _LEAST_ERROR:
                    raise ClusterFailed(
                        f"{self.url}{path}: {_message(answer.status, await _beginning(answer))}", answer.status
                    )
                yield answer
        except (aiohttp.ClientError, TimeoutError) as exc:
            raise ClusterFailed(f"{self.url}: {dial_words.of_call(exc) or 'no answer in time'}") from exc


@asynccontextmanager
async def opened(config: ClusterConfig) -> AsyncIterator[Cluster]:
    """A client. Raises ClusterFailed, OSError, ValueError."""
    credential = await _credential(config)
    async with client.command_session(_CONNECT_SECONDS) as session:
        yield Cluster(session, config, credential)


async def _credential(config: ClusterConfig) -> Credential:
    if not config.user.get("exec"):
        return webhook_credentials.credential_of(config.user, config.directory)
    status = await _of_plugin(config.user["exec"], config.directory)
    certificate = status.get("clientCertificateData", "")
    return Credential(
        token=status.get("token", ""),
        certificate=f"{certificate}\n{status.get('clientKeyData', '')}" if certificate else "",
    )


async def _of_plugin(plugin: Mapping[str, Any], directory: Path) -> Mapping[str, Any]:
    """The status of the ExecCredential that a credential plugin prints. Raises ClusterFailed."""
    command = str(plugin["command"])
    if "/" in command:
        command = str(directory / command)
    info = {"apiVersion": plugin["apiVersion"], "kind": "ExecCredential", "spec": {"interactive": False}}
    given = {one["name"]: one["value"] for one in plugin.get("env") or ()}
    environment = {**os.environ, **given, _EXEC_INFO: orjson.dumps(info).decode()}
    arguments = [str(one) for one in plugin.get("args") or ()]
    process = await asyncio.create_subprocess_exec(command, *arguments, stdout=PIPE, env=environment)
    printed, _ = await process.communicate()
    if process.returncode:
        raise ClusterFailed(f"the credential plugin {command} has failed with the code {process.returncode}")
    try:
        status: Mapping[str, Any] = orjson.loads(printed)["status"]
    except (ValueError, KeyError, TypeError) as exc:
        raise ClusterFailed(f"the credential plugin {command} has printed no ExecCredential") from exc
    return status


def _named(config: Any, plural: str, singular: str, name: str) -> Mapping[str, Any]:
    for entry in config.get(plural) or ():
        if entry.get("name") == name:
            found: Mapping[str, Any] = entry.get(singular) or {}
            return found
    raise ValueError(f"it has no {singular} named {name!r}")


def _server(cluster: Mapping[str, Any]) -> str:
    if not cluster.get("server"):
        raise ValueError("its cluster has no server")
    return str(cluster["server"]).rstrip("/")


def _tls(config: ClusterConfig, credential: Credential) -> ssl.SSLContext:
    authority = webhook_credentials.data_of(config.cluster, "certificate-authority", config.directory)
    tls = bundles.trusting(authority)
    if config.cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    if credential.certificate:
        bundles.show(credential.certificate, tls)
    return tls


async def _read(answer: aiohttp.ClientResponse, most: int) -> bytes:
    """The body of an answer. Raises TooLong."""
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > most:
            raise TooLong(f"{answer.url}: the answer has more than {most} bytes")
    return bytes(body)


async def _beginning(answer: aiohttp.ClientResponse) -> bytes:
    """The body of a refusal, as far as it matters."""
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > _LONGEST_REFUSAL:
            break
    return bytes(body)


def _message(status: int, body: bytes) -> str:
    """The message of a Status, or the beginning of another answer, without characters that steer a terminal."""
    try:
        text = str(orjson.loads(body)["message"])[:_LONGEST_MESSAGE]
    except (ValueError, KeyError, TypeError):
        text = f"{status} {body[:200].decode(errors='replace').strip()}"
    return "".join(letter if letter.isprintable() else " " for letter in text)
