"""OIDC: the documents with which relying parties verify service account tokens.

/.well-known/openid-configuration    the issuer and the address of its keys
/openid/v1/jwks                      the public keys
"""

from collections.abc import Mapping

import orjson
from aiohttp import hdrs, web

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tls import contexts
from aio_apiserver.apiserver.wire import negotiation, responses, route_errors
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.generic.access.token_issuer import TokenIssuer
from aio_apiserver.registry.machinery import media_types

CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"

_JWKS = "application/jwk-set+json"
_CACHE_CONTROL = "public, max-age=3600"
_ALGORITHM = "RS256"
"""The algorithm of the key that the server generates when the flags name no key."""


class OIDCDocuments:
    """The handlers of both documents."""

    def __init__(self, settings: Settings, issuer: TokenIssuer) -> None:
        self._settings = settings
        self._issuer = issuer

    def exact(self) -> Mapping[str, Handler]:
        """The handlers by path."""
        return {CONFIGURATION: self.configuration, KEYS: self.keys}

    def prefixes(self) -> Mapping[str, Handler]:
        """The same paths with a trailing slash."""
        return {f"{path}/": _only(f"{path}/", handler) for path, handler in self.exact().items()}

    async def configuration(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """The issuer and the address of its keys."""
        _check(request, media_types.JSON)
        body = {
            "issuer": self._issuer.issuers[0],
            "jwks_uri": self._settings.service_account_jwks_uri or f"{self._url(request)}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": await self._algorithms(),
        }
        return _cached(responses.raw(context, orjson.dumps(body)))

    async def keys(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """The public keys."""
        _check(request, _JWKS)
        keys = await self._issuer.keys.get()
        body = orjson.dumps({"keys": [key.as_jwk() for key in keys.verifying]})
        return _cached(responses.raw(context, body, content_type=_JWKS))

    async def _algorithms(self) -> list[str]:
        if not self._settings.service_account_key_file and self._settings.service_account_signing_key_file is None:
            return [_ALGORITHM]
        keys = await self._issuer.keys.get()
        return list(dict.fromkeys(key.algorithm for key in keys.verifying))

    def _url(self, request: web.BaseRequest) -> str:
        """The address of the server for relying parties."""
        settings = self._settings
        host = settings.external_hostname or settings.advertise_address or contexts.local_address(settings)
        assert request.transport is not None
        port = settings.secure_port or request.transport.get_extra_info("sockname")[1]
        return f"https://{host}:{port}"


def _only(path: str, handler: Handler) -> Handler:
    """The handler for exactly this path, not for paths below it."""

    async def answer(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if context.path != path:
            return responses.not_found(context)
        return await handler(request, context)

    return answer


def _check(request: web.BaseRequest, media_type: str) -> None:
    """Raises RouteMethodNotAllowed, RouteNotAcceptable."""
    if request.method != hdrs.METH_GET:
        raise route_errors.RouteMethodNotAllowed
    if not negotiation.is_served(request.headers.get(hdrs.ACCEPT, ""), (media_type,)):
        raise route_errors.RouteNotAcceptable((media_type,))


def _cached(response: web.Response) -> web.Response:
    response.headers[hdrs.CACHE_CONTROL] = _CACHE_CONTROL
    return response
