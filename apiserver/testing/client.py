"""Client: a blocking HTTPS connection for the test tools themselves.

Calls come one after the other, from the thread that uses the server, so that one connection is enough.
"""

import http.client
import json
import ssl
from types import TracebackType
from typing import Any, Self

_SECONDS = 60


class Refused(Exception):
    """The server has returned an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


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
        self._connection.close()

    def request(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json"
    ) -> dict[str, Any]:
        """The JSON of the response. Raises Refused."""
        headers = {"Content-Type": content_type}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        text = json.dumps(body).encode() if body is not None else None
        self._connection.request(method, path, text, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= http.client.BAD_REQUEST:
            raise Refused(response.status, _message(content))
        answer: dict[str, Any] = json.loads(content)
        return answer


def _message(content: bytes) -> str:
    """The message of a Status, or the text of another response."""
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return content.decode(errors="replace").strip()
