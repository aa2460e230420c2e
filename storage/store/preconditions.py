"""Preconditions: checks the uid and resourceVersion preconditions of a write against the current object.

Pure. Must hold: the messages are kube-apiserver's, because clients compare them.
"""

import orjson

from aio_apiserver.storage.errors import PreconditionFailed
from aio_apiserver.storage.interface import Preconditions
from aio_apiserver.storage.stored_object import StoredObject


def check(preconditions: Preconditions | None, key: str, current: StoredObject | None, *, is_dry: bool = False) -> None:
    """Raise PreconditionFailed unless they hold. A missing object has neither uid nor resourceVersion."""
    if preconditions is None:
        return
    wanted_uid = preconditions.uid
    if wanted_uid is not None and (uid := _uid(current)) != wanted_uid:
        raise PreconditionFailed(
            key, f"Precondition failed: UID in precondition: {wanted_uid}, UID in object meta: {uid}", is_dry=is_dry
        )
    wanted = preconditions.resource_version
    if wanted is not None and (version := _resource_version(current)) != wanted:
        raise PreconditionFailed(
            key,
            f"Precondition failed: ResourceVersion in precondition: {wanted}, "
            f"ResourceVersion in object meta: {version}",
            is_dry=is_dry,
        )


def _uid(current: StoredObject | None) -> str:
    if current is None:
        return ""
    uid: str = orjson.loads(current.json)["metadata"].get("uid", "")
    return uid


def _resource_version(current: StoredObject | None) -> str:
    return str(current.revision) if current is not None else ""
