"""token_tracking: creates the ConfigMap with the date since which legacy service account tokens are tracked."""

from datetime import UTC, date, datetime
from functools import partial

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS

_PLACE = ResourcePath(CONFIGMAPS.group, "v1", CONFIGMAPS.plural)
_NAMESPACE = "kube-system"
_NAME = "kube-apiserver-legacy-service-account-token-tracking"
_SINCE = "since"


async def ensure(client: OwnClient, clock: Clock) -> None:
    """Create it with today's date, or replace a date that cannot be read."""
    today = datetime.fromtimestamp(clock.now(), UTC).date().isoformat()
    obj = {"metadata": {"name": _NAME}, "data": {_SINCE: today}}
    await client.create_missing(_PLACE, obj, namespace=_NAMESPACE)
    await client.change(_PLACE, _NAME, partial(_mend, today=today), namespace=_NAMESPACE)


def _mend(obj: Object, *, today: str) -> bool:
    data = obj.setdefault("data", {})
    try:
        date.fromisoformat(data.get(_SINCE, ""))
    except ValueError:
        data[_SINCE] = today
        return True
    return False
