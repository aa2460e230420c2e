"""The users of an etcd with authentication, and an administrator who manages them."""

import grpc.aio
from aetcd import rpc

from aio_apiserver.storage.kv.etcd import Login
from tests.storage.kv.etcd_server import Member

ROOT = Login("root", "root password")
CLERK = Login("clerk", "clerk password")
"""A user with the rights of a server: to read and write below /registry/."""

FAST_PASSWORDS = "--bcrypt-cost=4"
"""A flag of a member: with it, etcd checks passwords in a millisecond."""


class Administrator:
    """Manages users through a channel of its own."""

    def __init__(self, member: Member) -> None:
        self._channel = grpc.aio.insecure_channel(member.endpoint.removeprefix("http://"))
        self._auth = rpc.AuthStub(self._channel)

    async def enable(self) -> None:
        """Create the users ROOT and CLERK, and require authentication."""
        await self._auth.RoleAdd(rpc.AuthRoleAddRequest(name="root"))
        await self._add_user(ROOT, role="root")
        await self._auth.RoleAdd(rpc.AuthRoleAddRequest(name="clerk"))
        permission = rpc.Permission(permType=rpc.Permission.READWRITE, key=b"/registry/", range_end=b"/registry0")
        await self._auth.RoleGrantPermission(rpc.AuthRoleGrantPermissionRequest(name="clerk", perm=permission))
        await self._add_user(CLERK, role="clerk")
        await self._auth.AuthEnable(rpc.AuthEnableRequest())

    async def disable(self) -> None:
        """Admit all clients again."""
        await self._auth.AuthDisable(rpc.AuthDisableRequest(), metadata=await self._token())

    async def change_password(self, user: str, password: str) -> None:
        request = rpc.AuthUserChangePasswordRequest(name=user, password=password)
        await self._auth.UserChangePassword(request, metadata=await self._token())

    async def add_role(self, name: str) -> None:
        """A change of the users, which invalidates signed tokens."""
        await self._auth.RoleAdd(rpc.AuthRoleAddRequest(name=name), metadata=await self._token())

    async def close(self) -> None:
        await self._channel.close()

    async def _add_user(self, login: Login, *, role: str) -> None:
        await self._auth.UserAdd(rpc.AuthUserAddRequest(name=login.user, password=login.password))
        await self._auth.UserGrantRole(rpc.AuthUserGrantRoleRequest(user=login.user, role=role))

    async def _token(self) -> list[tuple[str, str]]:
        answer = await self._auth.Authenticate(rpc.AuthenticateRequest(name=ROOT.user, password=ROOT.password))
        return [("token", answer.token)]
