"""Three classic bugs of operators, each as a handler with the bug and a handler without it.

Tests without faults do not show these bugs.
"""

import contextlib
from collections.abc import Callable, Collection
from typing import Any

from kubernetes import client

LABEL = "example.com/greeting"
NAMESPACE = "default"


def create(core: client.CoreV1Api, owner: str, *, name: str = "") -> None:
    """Create the child of an object. Without a name, the server generates one."""
    metadata = client.V1ObjectMeta(labels={LABEL: owner}, name=name or None, generate_name=f"{owner}-")
    core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=metadata))


def children(core: client.CoreV1Api) -> list[Any]:
    """The metadata of all children."""
    return [child.metadata for child in core.list_namespaced_config_map(NAMESPACE, label_selector=LABEL).items]


def ensure(core: client.CoreV1Api, owner: str) -> None:
    """Create the child of an object unless it exists. Its name is fixed, so a second one is a conflict."""
    with contextlib.suppress(client.ApiException):
        create(core, owner, name=f"{owner}-child")


# A restarted operator reads from a cache that lags: the cache does not have the child that it created before.


def on_start_trusting_the_list(core: client.CoreV1Api, owner: str) -> None:
    found = core.list_namespaced_config_map(NAMESPACE, label_selector=f"{LABEL}={owner}", resource_version="0")
    if not found.items:
        create(core, owner)


def on_start_with_a_name_of_its_own(core: client.CoreV1Api, owner: str) -> None:
    ensure(core, owner)


# An object is deleted while the operator is down: the operator gets no event for it.


def after_being_away_waiting_for_events(_core: client.CoreV1Api, _owners: Collection[str]) -> None:
    return


def after_being_away_comparing(core: client.CoreV1Api, owners: Collection[str]) -> None:
    for child in children(core):
        if child.labels[LABEL] not in owners:
            core.delete_namespaced_config_map(child.name, NAMESPACE)


# The connection breaks after a write: the server may have stored it.


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
