"""Impersonation: checks the `Impersonate-*` headers of a request against the rights of its user.

Constrained impersonation has modes, each for one kind of user. The legacy mode needs the right to `impersonate`.
The mode that a user had the last time is tried first. Must hold: the impersonated user is exactly the one whose rights
were checked. The legacy mode permits system:masters, the others refuse it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.short_texts import key_of
from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation.domains import validate_prefixed_path
from aio_apiserver.registry.generic.access import impersonation_texts
from aio_apiserver.registry.generic.access.authorizer import Attributes, Authorizer
from aio_apiserver.registry.generic.access.refusals import forbidden
from aio_apiserver.registry.generic.access.users import (
    ALL_AUTHENTICATED,
    ALL_UNAUTHENTICATED,
    ANONYMOUS,
    MASTERS,
    NODES,
    UserInfo,
    node_of,
    service_account_groups,
    split_service_account,
)

_GROUP = "authentication.k8s.io"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_NODE_KEYS = "authentication.kubernetes.io/associated-node-keys"
_MANY = 4
"""From so many groups or values on, the right to all of them (`*`) is checked first."""
_MOST_REMEMBERED = 10_000

_Applies = Callable[[UserInfo, UserInfo], bool]
"""Whether a mode applies to this wanted user and this requestor."""


class _Mode(Struct, frozen=True):
    """A constrained mode; the legacy mode has no name."""

    name: str
    applies: _Applies

    @property
    def verb(self) -> str:
        return f"impersonate:{self.name}" if self.name else "impersonate"

    @property
    def group(self) -> str:
        """The group of the resources users, groups, serviceaccounts and nodes."""
        return _GROUP if self.name else ""


def _is_node_of(wanted: UserInfo, requestor: UserInfo) -> bool:
    """Whether a service account impersonates the node of its own pod."""
    node = node_of(wanted.name)
    is_account = split_service_account(requestor.name) is not None
    return bool(node) and is_account and tuple(requestor.extra.get(_NODE_NAME, ())) == (node,) and _is_bare(wanted)


def _is_bare(wanted: UserInfo) -> bool:
    return not (wanted.uid or wanted.groups or wanted.extra)


def _is_ordinary(wanted: UserInfo) -> bool:
    return not node_of(wanted.name) and split_service_account(wanted.name) is None


_ASSOCIATED_NODE = _Mode("associated-node", _is_node_of)
_OLD = _Mode("", lambda wanted, requestor: True)
_MODES = (
    _ASSOCIATED_NODE,
    _Mode("arbitrary-node", lambda wanted, requestor: bool(node_of(wanted.name)) and _is_bare(wanted)),
    _Mode(
        "serviceaccount",
        lambda wanted, requestor: split_service_account(wanted.name) is not None and _is_bare(wanted),
    ),
    _Mode("user-info", lambda wanted, requestor: _is_ordinary(wanted)),
    _OLD,
)


class Impersonated(NamedTuple):
    """The impersonated user. constraint: the verb of the constrained mode that allowed it, if any."""

    user: UserInfo
    constraint: str = ""


class Impersonator:
    """Decides for one server.

    is_constrained: whether its minor has the constrained modes. fails_nameless: a request for a user without a name is
    an internal error in its minor.
    """

    def __init__(self, authorizer: Authorizer, *, is_constrained: bool = True, fails_nameless: bool = False) -> None:
        self._authorizer = authorizer
        self._is_constrained = is_constrained
        self.fails_nameless = fails_nameless
        self._remembered: dict[str, _Mode] = {}

    def nameless(self, wanted: UserInfo) -> str:
        """The message for groups, a uid or extra values without a name."""
        texts = impersonation_texts
        return texts.nameless(wanted) if self._is_constrained else texts.nameless_before(wanted)

    async def impersonate(self, wanted: UserInfo, attributes: Attributes) -> Impersonated:
        """The user to impersonate. Raises Forbidden with the right that the first mode lacked."""
        first: Forbidden | None = None
        for mode in self._modes_for(attributes.user):
            if not mode.applies(wanted, attributes.user):
                continue
            try:
                found = await self._check(mode, wanted, attributes)
            except Forbidden as exc:
                first = first or exc
                continue
            self._remember(attributes.user, mode)
            return Impersonated(found, mode.verb if mode.name else "")
        assert first is not None
        raise first

    def _modes_for(self, requestor: UserInfo) -> Sequence[_Mode]:
        """The modes in the order of trial: first the one that allowed the last impersonation by the same user."""
        if not self._is_constrained:
            return (_OLD,)
        last = self._remembered.get(key_of(requestor.name))
        return _MODES if last is None else (last, *(mode for mode in _MODES if mode is not last))

    def _remember(self, requestor: UserInfo, mode: _Mode) -> None:
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[key_of(requestor.name)] = mode

    async def _check(self, mode: _Mode, wanted: UserInfo, attributes: Attributes) -> UserInfo:
        """Raises Forbidden for the first right that is missing."""
        if mode is _ASSOCIATED_NODE:
            keys = {_NODE_KEYS: sorted(attributes.user.extra)}
            attributes = attributes._replace(user=replace(attributes.user, extra=keys))
        if mode.name:
            await self._authorize(attributes._replace(verb=f"impersonate-on:{mode.name}:{attributes.verb}"))
        await self._authorize(_name_question(mode, wanted, attributes.user))
        if self._is_constrained:
            await self._check_uid(mode, wanted, attributes.user)
        await self._check_groups(mode, wanted, attributes.user)
        await self._check_extra(mode, wanted, attributes.user)
        if not self._is_constrained:
            await self._check_uid(mode, wanted, attributes.user)
        return _with_groups(mode, wanted)

    async def _check_uid(self, mode: _Mode, wanted: UserInfo, requestor: UserInfo) -> None:
        if wanted.uid:
            await self._authorize(Attributes(requestor, mode.verb, _GROUP, "v1", "uids", name=wanted.uid))

    async def _check_groups(self, mode: _Mode, wanted: UserInfo, requestor: UserInfo) -> None:
        question = Attributes(requestor, mode.verb, mode.group, "v1", "groups")
        if mode.name and "" in wanted.groups:
            raise forbidden(question, "impersonating the empty string group is not allowed")
        if mode.name and MASTERS in wanted.groups:
            raise forbidden(question._replace(name=MASTERS), "impersonating the system:masters group is not allowed")
        if mode.name and len(wanted.groups) >= _MANY and await self._may(question._replace(name="*")):
            return
        for group in wanted.groups:
            await self._authorize(question._replace(name=group))

    async def _check_extra(self, mode: _Mode, wanted: UserInfo, requestor: UserInfo) -> None:
        question = Attributes(requestor, mode.verb, _GROUP, "v1", "userextras")
        if mode.name:
            for key, values in wanted.extra.items():
                if wrong := _wrong_extra(key, values):
                    raise forbidden(question, wrong)
            is_large = len(wanted.extra) >= _MANY or sum(map(len, wanted.extra.values())) >= _MANY
            if is_large and await self._may(question._replace(subresource="*", name="*")):
                return
        for key, values in wanted.extra.items():
            for value in values:
                await self._authorize(question._replace(subresource=key, name=value))

    async def _may(self, attributes: Attributes) -> bool:
        return (await self._authorizer.authorize(attributes)).is_allowed

    async def _authorize(self, attributes: Attributes) -> None:
        decision = await self._authorizer.authorize(attributes)
        if not decision.is_allowed:
            raise forbidden(attributes, ": ".join(filter(None, (decision.error, decision.reason))))


def _name_question(mode: _Mode, wanted: UserInfo, requestor: UserInfo) -> Attributes:
    """The check of the name."""
    question = Attributes(requestor, mode.verb, mode.group, "v1", "users", name=wanted.name)
    account, node = split_service_account(wanted.name), node_of(wanted.name)
    if account is not None:
        namespace, name = account
        return question._replace(resource="serviceaccounts", namespace=namespace, name=name)
    if mode.name and node:
        return question._replace(resource="nodes", name="*" if mode is _ASSOCIATED_NODE else node)
    return question


def _with_groups(mode: _Mode, wanted: UserInfo) -> UserInfo:
    """The user with the groups that follow from the name, and system:authenticated or system:unauthenticated."""
    groups = tuple(wanted.groups)
    account = split_service_account(wanted.name)
    if mode.name and node_of(wanted.name):
        groups = (NODES,)
    elif account is not None and not groups:
        groups = service_account_groups(account[0])
    if wanted.name == ANONYMOUS.name:
        implied = ALL_UNAUTHENTICATED
    elif ALL_UNAUTHENTICATED in groups:
        return replace(wanted, groups=groups)
    else:
        implied = ALL_AUTHENTICATED
    return replace(wanted, groups=groups if implied in groups else (*groups, implied))


def _wrong_extra(key: str, values: Sequence[str]) -> str:
    if not key:
        return "impersonating the empty string key in extra is not allowed"
    if wrong := validate_prefixed_path(key, "extra.key"):
        text = ", ".join(map(str, wrong))
        return f"impersonating an invalid key in extra is not allowed: {f'[{text}]' if len(wrong) > 1 else text}"
    if key != key.lower():
        return f"impersonating a non-lowercase key in extra is not allowed: {quote(key)}"
    if not values:
        return "impersonating empty values in extra is not allowed"
    return "impersonating the empty string value in extra is not allowed" if "" in values else ""
