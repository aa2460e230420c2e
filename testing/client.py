"""Client: a blocking HTTPS connection for the test tools themselves.

Calls come one after the other, from the thread that uses the server, so that one connection is enough.
"""

import http.client
import json
import re
import ssl
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

_SECONDS = 60
_QUOTED = re.compile(r'^\d+ \S+ "(.*)"$', re.DOTALL)
"""A Warning header: code, agent, text."""


class Refused(Exception):
    """The server has returned an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class Exchanged(NamedTuple):
    """A response: its status, the texts of its warnings, its JSON, and the message of an error."""

    status: int
    warnings: Sequence[str]
    body: Any
    message: str


class BlockingClient:
    """One connection, authenticated by token, else by the client certificate of its TLS context."""

    def __init__(self, port: int, tls: ssl.SSLContext, token: str) -> None:
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=tls, timeout=_SECONDS)
        self.token = token

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. It may be called twice, and a later request opens another connection."""
        self._connection.close()

    def request(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json"
    ) -> dict[str, Any]:
        """The JSON of the response. Raises Refused."""
        answer = self.exchange(method, path, body, content_type=content_type)
        if answer.status >= http.client.BAD_REQUEST:
            raise Refused(answer.status, answer.message)
        found: dict[str, Any] = answer.body
        return found

    def exchange(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json"
    ) -> Exchanged:
        """The whole response, whatever its status."""
        headers = {"Content-Type": content_type}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        text = json.dumps(body).encode() if body is not None else None
        self._connection.request(method, path, text, headers)
        response = self._connection.getresponse()
        content = response.read()
        warnings = [_QUOTED.sub(r"\1", one) for one in response.headers.get_all("Warning") or ()]
        if response.status >= http.client.BAD_REQUEST:
            return Exchanged(response.status, warnings, None, _message(content))
        return Exchanged(response.status, warnings, json.loads(content), "")


def _message(content: bytes) -> str:
    """The message of a Status, or the text of another response."""
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return content.decode(errors="replace").strip()
