"""Documents: gets documents over HTTPS: the keys of an OIDC issuer, the health of a component.

Must hold: URLs of other schemes are refused, and the documents of an issuer have a size limit.
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
    """Gets documents for one server."""

    def __init__(self, client: HTTPSClient) -> None:
        self._client = client

    def fetcher(self, tls: ssl.SSLContext) -> Fetch:
        """A function that gets documents from servers which this context trusts."""

        async def fetch(url: str) -> bytes:
            if not url.startswith("https://"):
                raise OSError(f"{url} is not an https URL")
            try:
                answer = await self._client.get(HTTPSRequest(url, tls), seconds=_LONGEST_SECONDS)
            except NoAnswer as exc:
                raise OSError(f"cannot get {url}: {exc}") from exc
            if answer.status not in _MADE:
                raise OSError(f"cannot get {url}: status {answer.status}")
            if len(answer.body) > _MOST_BYTES:
                raise OSError(f"the response has more than {_MOST_BYTES} bytes")
            return answer.body

        return fetch

    async def probe(self, port: int) -> ProbeAnswer:
        """The health of a component on this machine, whose certificate is self-signed. Raises Unhealthy."""
        request = HTTPSRequest(f"https://127.0.0.1:{port}/healthz", bundles.unverified())
        try:
            answer = await self._client.get(request, seconds=_LONGEST_SECONDS)
        except NoAnswer as exc:
            raise Unhealthy(str(exc)) from exc
        return ProbeAnswer(answer.status, answer.body.decode(errors="replace"))
