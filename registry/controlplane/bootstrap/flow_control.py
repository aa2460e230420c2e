"""flow_control: creates, repairs and deletes kube-apiserver's own FlowSchemas and PriorityLevelConfigurations.

Must hold: mandatory objects get their spec back. A suggested object follows the server while its autoupdate
annotation says so, or without one, while its generation is 1.
"""

from collections.abc import Sequence
from functools import partial

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.flowcontrol import builtin_objects
from aio_apiserver.registry.groups.flowcontrol.flowschemas import FLOWSCHEMAS as FLOWSCHEMA_KIND
from aio_apiserver.registry.groups.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS

FLOWSCHEMAS = ResourcePath(FLOWSCHEMA_KIND.group, "v1", FLOWSCHEMA_KIND.plural)
PRIORITY_LEVELS = ResourcePath(PRIORITYLEVELCONFIGURATIONS.group, "v1", PRIORITYLEVELCONFIGURATIONS.plural)

_MANAGER = "api-priority-and-fairness-config-producer-v1"
_AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


async def ensure(client: OwnClient) -> None:
    """Bring both kinds to this server version's specs; priority levels first, since schemas refer to them."""
    await _ensure(client, PRIORITY_LEVELS, builtin_objects.priority_levels())
    await _ensure(client, FLOWSCHEMAS, builtin_objects.flow_schemas())


async def _ensure(client: OwnClient, place: ResourcePath, wanted: Sequence[Object]) -> None:
    present = {obj["metadata"]["name"]: obj for obj in await client.all(place)}
    for obj in wanted:
        name = obj["metadata"]["name"]
        mend = partial(_mend, spec=obj["spec"], is_mandatory=name in builtin_objects.MANDATORY)
        if name not in present:
            obj["metadata"]["annotations"] = {_AUTO_UPDATE: "true"}
            await client.create_missing(place, obj, manager=_MANAGER)
        elif mend(present.pop(name)):
            await client.change(place, name, mend, manager=_MANAGER)
    for name, obj in present.items():
        if _follows(obj) is True:
            await client.delete(place, name)


def _mend(obj: Object, *, spec: Object, is_mandatory: bool) -> bool:
    """Repair an object in place; returns whether it has changed."""
    metadata = obj["metadata"]
    follows = _follows(obj)
    is_ours = is_mandatory or (metadata.get("generation") == 1 if follows is None else follows)
    is_wrong = is_ours and obj.get("spec") != spec
    if is_wrong:
        obj["spec"] = spec
    if follows == is_ours:
        return is_wrong
    metadata.setdefault("annotations", {})[_AUTO_UPDATE] = "true" if is_ours else "false"
    return True


def _follows(obj: Object) -> bool | None:
    """The value of the autoupdate annotation; None without a valid one."""
    text = (obj["metadata"].get("annotations") or {}).get(_AUTO_UPDATE, "")
    return True if text in _TRUE else False if text in _FALSE else None
