"""Users: UserInfo, the authenticated user of a request. Knows no authenticator and no authorizer."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.registry.base.validation import names

ALL_AUTHENTICATED = "system:authenticated"
ALL_UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"


class UserInfo(Struct, frozen=True, kw_only=True):
    """A user; `extra` holds the authenticator's further attributes."""

    name: str
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)


ANONYMOUS = UserInfo(name="system:anonymous", groups=(ALL_UNAUTHENTICATED,))


def authenticated(user: UserInfo) -> UserInfo:
    """The user as a member of system:authenticated."""
    if ALL_AUTHENTICATED in user.groups or ALL_UNAUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, ALL_AUTHENTICATED))


APISERVER = authenticated(UserInfo(name="system:apiserver", groups=(MASTERS,)))
"""The user of the server's requests to itself."""
SERVICE_ACCOUNTS = "system:serviceaccounts"
NODES = "system:nodes"
_SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"
_NODE_PREFIX = "system:node:"


def service_account_name(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return f"{_SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """The groups of every service account of a namespace."""
    return SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"


def split_service_account(user_name: str) -> tuple[str, str] | None:
    """The namespace and name of a service account's user name; None for other users."""
    if not user_name.startswith(_SERVICE_ACCOUNT_PREFIX):
        return None
    parts = user_name.removeprefix(_SERVICE_ACCOUNT_PREFIX).split(":")
    if len(parts) != 2 or names.is_dns_label(parts[0], False) or names.is_dns_subdomain(parts[1], False):
        return None
    return parts[0], parts[1]


def node_of(user_name: str) -> str:
    """The node of a node's user name; empty for other users."""
    name = user_name.removeprefix(_NODE_PREFIX)
    is_node = user_name.startswith(_NODE_PREFIX) and not names.is_dns_subdomain(name, False)
    return name if is_node else ""
