"""UserInfo: who makes a request. Knows neither how that was found out nor what follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

ALL_AUTHENTICATED = "system:authenticated"
ALL_UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """A user; `extra` holds what the authenticator says beyond Kubernetes' own words."""

    name: str
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)


ANONYMOUS = UserInfo(name="system:anonymous", groups=(ALL_UNAUTHENTICATED,))


def authenticated(user: UserInfo) -> UserInfo:
    """The user as a member of the group of all who have proved who they are."""
    if ALL_AUTHENTICATED in user.groups or ALL_UNAUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, ALL_AUTHENTICATED))


SERVICE_ACCOUNTS = "system:serviceaccounts"
_SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"


def service_account_name(namespace: str, name: str) -> str:
    """The user that a service account is."""
    return f"{_SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"
