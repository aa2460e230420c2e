"""impersonation_texts: kube-apiserver's messages for Impersonate headers without a user's name.

With constrained impersonation the message shows the user as a Go struct; without, it shows each header as a Go struct.
"""

from collections.abc import Iterator, Sequence

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.users import UserInfo


def nameless(wanted: UserInfo) -> str:
    """The message of a server with constrained impersonation."""
    return f"requested {_in_go(wanted)} without impersonating a user name"


def nameless_before(wanted: UserInfo) -> str:
    """The message of a server without it."""
    return f"requested [{' '.join(_references(wanted))}] without impersonating a user"


def _references(wanted: UserInfo) -> Iterator[str]:
    """Each header as an ObjectReference: kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath."""
    for group in wanted.groups:
        yield f"{{Group  {group}    }}"
    for key, values in wanted.extra.items():
        for value in values:
            yield f"{{UserExtra  {value}  authentication.k8s.io/v1  {key}}}"
    if wanted.uid:
        yield f"{{UID  {wanted.uid}  authentication.k8s.io/v1  }}"


def _in_go(user: UserInfo) -> str:
    """A user in the format of kube-apiserver's message."""
    extra = ", ".join(f"{quote(key)}:{_strings(values)}" for key, values in sorted(user.extra.items()))
    shown = f"{{{extra}}}" if extra else "(nil)"
    return (
        f"&user.DefaultInfo{{Name:{quote(user.name)}, UID:{quote(user.uid)}, Groups:{_strings(user.groups)}, "
        f"Extra:map[string][]string{shown}}}"
    )


def _strings(values: Sequence[str]) -> str:
    return f"[]string{{{', '.join(map(quote, values))}}}" if values else "[]string(nil)"
