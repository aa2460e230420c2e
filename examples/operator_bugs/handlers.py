"""Three classic mistakes of operators, each with the handler that makes it and the one that does not.

What they have in common: the mistake never shows on a good day.
"""

import contextlib
from collections.abc import Callable, Collection
from typing import Any

from kubernetes import client

LABEL = "example.com/greeting"
NAMESPACE = "default"


def create(core: client.CoreV1Api, owner: str, *, name: str = "") -> None:
    """Make the child of an object; without a name, under one that the server makes up."""
    metadata = client.V1ObjectMeta(labels={LABEL: owner}, name=name or None, generate_name=f"{owner}-")
    core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=metadata))


def children(core: client.CoreV1Api) -> list[Any]:
    """The metadata of all children."""
    return [child.metadata for child in core.list_namespaced_config_map(NAMESPACE, label_selector=LABEL).items]


def ensure(core: client.CoreV1Api, owner: str) -> None:
    """Make the child of an object unless it is there: its name is known, so there can only be one."""
    with contextlib.suppress(client.ApiException):
        create(core, owner, name=f"{owner}-child")


# A restarted operator reads from a cache that lags: the child that it has made before is not there yet.


def on_start_trusting_the_list(core: client.CoreV1Api, owner: str) -> None:
    found = core.list_namespaced_config_map(NAMESPACE, label_selector=f"{LABEL}={owner}", resource_version="0")
    if not found.items:
        create(core, owner)


def on_start_with_a_name_of_its_own(core: client.CoreV1Api, owner: str) -> None:
    ensure(core, owner)


# An object is deleted while the operator is away: nobody will ever tell.


def after_being_away_waiting_for_events(_core: client.CoreV1Api, _owners: Collection[str]) -> None:
    return


def after_being_away_comparing(core: client.CoreV1Api, owners: Collection[str]) -> None:
    for child in children(core):
        if child.labels[LABEL] not in owners:
            core.delete_namespaced_config_map(child.name, NAMESPACE)


# A write is answered by a broken connection: it may have happened.


def create_trying_again(core: client.CoreV1Api, owner: str) -> None:
    again(lambda: create(core, owner))


def create_once_trying_again(core: client.CoreV1Api, owner: str) -> None:
    again(lambda: ensure(core, owner))


def again(act: Callable[[], None]) -> None:
    try:
        act()
    except OSError:
        act()
    except Exception as exc:
        if "Connection" not in repr(exc):
            raise
        act()
