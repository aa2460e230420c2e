"""session_endpoints: sign in to the console, sign out, and the user who is signed in.

    GET     /ui/session       the user of the session, or of the client certificate; an empty name without one
    POST    /ui/session       begin a session with the bearer token of the Authorization header
    POST    /ui/session/code  begin a session of the administrator with the code of a one-time link
    DELETE  /ui/session       end the session, on all servers of the cluster, and remove its cookie

Must hold: no response has a token in its body. Requests without the header X-Console are refused. A sign-out with a
token that has ended writes nothing. When the store refuses a sign-out, the response says so in `problem`.
"""

from typing import Any

import orjson
from aiohttp import hdrs, web

from aio_apiserver.apiserver.console.one_time_codes import OneTimeCodes
from aio_apiserver.apiserver.console.sessions import MARK, ConsoleSessions
from aio_apiserver.apiserver.wire import bodies, responses, route_errors
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import ANONYMOUS

PATH = "/ui/session"
OF_CODES = "/ui/session/code"
_MOST_BYTES = 4096
_STILL_ACCEPTED = (
    "this server has ended the session, but the store has not noted it, and other servers may still accept a copy of "
    "the cookie"
)


def needs_user(context: RequestContext) -> bool:
    """Whether the request is for an authenticated user. Codes need none."""
    return context.path == PATH


def is_sign_out(request: web.BaseRequest, context: RequestContext) -> bool:
    """Whether the request ends a session. It is served for sessions whose token has ended, too."""
    return context.path == PATH and request.method == hdrs.METH_DELETE


class SessionEndpoints:
    """The endpoints of one server. admin_token: the token of sessions that begin with a code."""

    def __init__(self, sessions: ConsoleSessions, codes: OneTimeCodes, admin_token: str) -> None:
        self._sessions = sessions
        self._codes = codes
        self._admin_token = admin_token

    async def handle(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Dispatch by method. The user of the context is authenticated, or anonymous."""
        if MARK not in request.headers:
            raise errors.Forbidden(None, "", why=f"the header {MARK} is missing")
        if context.path == OF_CODES and request.method == hdrs.METH_POST:
            return await self._redeem(request, context)
        if context.path != PATH:
            return responses.not_found(context)
        if request.method == hdrs.METH_DELETE:
            return await self._sign_out(request, context)
        if request.method not in (hdrs.METH_GET, hdrs.METH_POST):
            raise route_errors.RouteMethodNotAllowed
        if request.method == hdrs.METH_POST and context.user == ANONYMOUS:
            raise errors.Unauthorized
        response = responses.json(request, context, _user_facts(context))
        token = _bearer_token(request)
        if request.method == hdrs.METH_POST and token:
            self._sessions.begin(response, token)
        return response

    async def _sign_out(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        problem = ""
        try:
            await self._sessions.end(request, is_authenticated=context.user != ANONYMOUS)
        except errors.StatusError as exc:
            problem = f"{_STILL_ACCEPTED}: {exc.message}"
        response = responses.json(request, context, {"problem": problem} if problem else {})
        self._sessions.remove_cookie(response)
        return response

    async def _redeem(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        body = await bodies.read(request, limit=_MOST_BYTES)
        try:
            given = orjson.loads(body)
        except ValueError:
            given = None
        code = given.get("code") if isinstance(given, dict) else None
        if not isinstance(code, str) or not self._codes.redeem(code):
            raise errors.Unauthorized
        response = responses.json(request, context, {})
        self._sessions.begin(response, self._admin_token)
        return response


def _user_facts(context: RequestContext) -> dict[str, Any]:
    user = context.user
    if user == ANONYMOUS:
        return {"user": ""}
    return {"user": user.name, "groups": list(user.groups), "uid": user.uid}


def _bearer_token(request: web.BaseRequest) -> str:
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
