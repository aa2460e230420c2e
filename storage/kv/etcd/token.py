"""Token: the gRPC metadata of every request to etcd: `hasleader`, and the token of our user.

With `hasleader`, a member without a leader refuses requests at once and ends their watch streams. Without it, both
would time out. etcd's tokens expire when they are not used, and when users change. A refused caller gets a new token
here, and repeats.

Must hold: requests that are refused at one time cost one authentication; no password or token reaches a log.
"""

import asyncio

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.storage.errors import Unauthenticated
from aio_apiserver.storage.etcd_config import Login
from aio_apiserver.storage.kv.etcd.endpoint import Endpoint
from aio_apiserver.storage.kv.etcd.grpc_status import Metadata, RpcFailed

_WISH_FOR_LEADER = ("hasleader", "true")


class Token:
    """The metadata of requests. It starts without a token: a server without authentication never asks for one.

    metadata: of every request. read_metadata: of reads. With a single endpoint reads do not send `hasleader`: there is
    no other member to try, and the check costs 4 % of a read.
    """

    def __init__(self, login: Login | None, *, has_alternatives: bool) -> None:
        self._login = login
        self._lock = asyncio.Lock()
        self._attempts = 0
        self._failure: RpcFailed | None = None
        self._has_alternatives = has_alternatives
        self._use()

    async def renew(self, endpoint: Endpoint, refused: Metadata, *, seconds: float) -> None:
        """Get a new token, unless another caller has already got one.

        Raises Unauthenticated when no user is configured, and the RpcFailed of the authentication.
        """
        if self._login is None:
            raise Unauthenticated("etcd asks for a user, and none is configured")
        attempts = self._attempts
        async with self._lock:
            if self.metadata is not refused:
                return
            if self._attempts != attempts and self._failure is not None:
                raise self._failure
            await self._authenticate(endpoint, self._login, seconds)

    async def _authenticate(self, endpoint: Endpoint, login: Login, seconds: float) -> None:
        self._attempts += 1
        request = rpc.AuthenticateRequest(name=login.user, password=login.password)
        try:
            answer = await endpoint.calls.authenticate(request, timeout=seconds, metadata=(_WISH_FOR_LEADER,))
        except RpcFailed as error:
            self._failure = error
            raise
        self._failure = None
        self._use(("token", answer.token))

    def _use(self, *token: tuple[str, str]) -> None:
        self.metadata: Metadata = (_WISH_FOR_LEADER, *token)
        self.read_metadata = self.metadata if self._has_alternatives else token
