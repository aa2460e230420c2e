"""documents: what this server gets from others over HTTPS: an issuer's keys, a component's health.

Must hold: nothing but HTTPS is spoken, and a document of an issuer has a bound.
"""

import ssl

from aio_apiserver.apiserver.outgoing.client import HTTPSClient, HTTPSRequest, NoAnswer
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.registry.generic.component_probes import ProbeAnswer, Unhealthy
from aio_apiserver.registry.plugins.authentication.oidc import Fetch

_LONGEST_SECONDS = 30.0
_MOST_BYTES = 1 << 20
_MADE = range(200, 300)


class DocumentClient:
    """Gets documents on behalf of one server."""

    def __init__(self, client: HTTPSClient) -> None:
        self._client = client

    def fetcher(self, tls: ssl.SSLContext) -> Fetch:
        """Fetches documents from places that a context trusts."""

        async def fetch(url: str) -> bytes:
            if not url.startswith("https://"):
                raise OSError(f"{url} is not of https")
            try:
                answer = await self._client.get(HTTPSRequest(url, tls), seconds=_LONGEST_SECONDS)
            except NoAnswer as exc:
                raise OSError(f"cannot get {url}: {exc}") from exc
            if answer.status not in _MADE:
                raise OSError(f"cannot get {url}: status {answer.status}")
            if len(answer.body) > _MOST_BYTES:
                raise OSError(f"the answer has more than {_MOST_BYTES} bytes")
            return answer.body

        return fetch

    async def probe(self, port: int) -> ProbeAnswer:
        """What a component on this machine says of its health; its certificate is its own. Raises Unhealthy."""
        request = HTTPSRequest(f"https://127.0.0.1:{port}/healthz", bundles.unverified())
        try:
            answer = await self._client.get(request, seconds=_LONGEST_SECONDS)
        except NoAnswer as exc:
            raise Unhealthy(str(exc)) from exc
        return ProbeAnswer(answer.status, answer.body.decode(errors="replace"))
