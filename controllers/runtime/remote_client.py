"""remote_client: requests of a controller to aggregated servers, through the proxy of this server.

Must hold: an answer of any form becomes an object or a StatusError, with the words of client-go.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.aggregated import AggregatedServers, RemoteAnswer

_OK = range(200, 300)
_NO_LIST = ""


class RemoteClient(Struct, frozen=True):
    """Asks aggregated servers as one user."""

    aggregated: AggregatedServers
    user: UserInfo

    async def get(self, group: str, version: str, segments: Sequence[str], **query: str) -> Any:
        """The object below a version, such as `namespaces/NAME/PLURAL`. Raises StatusError."""
        answer = await self._ask("GET", group, version, segments, query)
        try:
            return orjson.loads(answer.body)
        except ValueError as exc:
            raise errors.StatusError(f"the response is no JSON: {exc}") from exc

    async def delete(self, group: str, version: str, segments: Sequence[str], **query: str) -> None:
        """Delete an object, or all objects of a resource in a namespace. Raises StatusError."""
        await self._ask("DELETE", group, version, segments, query)

    async def _ask(
        self, method: str, group: str, version: str, segments: Sequence[str], query: dict[str, str]
    ) -> RemoteAnswer:
        _, _, plural, *name = segments
        path = "/".join(["", "apis", group, version, *(quote(one, safe="") for one in segments)])
        texts = urlencode({key: text for key, text in query.items() if text})
        target = f"{path}?{texts}" if texts else path
        answer = await self.aggregated.ask(self.user, group, version, target, method=method)
        if answer.status not in _OK:
            raise _refused(answer, method.lower(), GroupResource(group, plural), name[0] if name else "")
        return answer


def _refused(answer: RemoteAnswer, verb: str, resource: GroupResource, name: str) -> errors.StatusError:
    """The error that client-go makes of an answer: its Status, or the code in words."""
    try:
        status = orjson.loads(answer.body)
        if status["kind"] == "Status":
            error = errors.StatusError(status["message"])
            error.code = answer.status
            return error
    except (ValueError, KeyError, TypeError):
        pass
    text = answer.body.decode(errors="replace").strip()
    return errors.ServerResponse(answer.status, resource, name, text, verb=verb)


def items_of(found: Any) -> Sequence[Object]:
    """The items of a list. Raises StatusError."""
    items = found.get("items", _NO_LIST) if isinstance(found, dict) else _NO_LIST
    if items is None:
        return ()
    if not isinstance(items, list):
        raise errors.StatusError("the response is no list")
    return items
