"""The options of a deletion, from its body or (without one) its query.

Must hold: what is wrong with them is told as it is, without the words for objects that do not fit.
"""

from typing import Any

from aiohttp import web

from aio_apiserver.apiserver.handlers import recorded
from aio_apiserver.apiserver.wire import bodies, parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.bodies import contents
from aio_apiserver.registry.generic.options import META_GROUP, DeleteOptions, delete_options_of
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery.schema import DecodeError

_OPTIONS = GroupVersionKind("", "v1", "DeleteOptions")
_SCHEME = "pkg/apis/meta/internalversion/scheme/register.go:27"
_INTERNAL = "__internal"

_OF_ALL_VERSIONS = frozenset(
    {"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"}
    | {"CreateOptions", "GetOptions", "PatchOptions", "UpdateOptions"}
)
_FORMS = frozenset({"PartialObjectMetadata", "PartialObjectMetadataList", "Table", "TableOptions"})
_OF_VERSIONS = {"v1": _FORMS | {"ListOptions", "WatchEvent"}, "v1beta1": _FORMS}
"""Other kinds that stand beside the options: in whatever version, or in one of their own group."""


async def read(request: web.BaseRequest, context: RequestContext, served: Served[Any]) -> DeleteOptions:
    """The options; not yet checked. Raises BadRequest, UnsupportedMediaType."""
    body = await bodies.read(request)
    if not body:
        return parameters.delete_options(context.query)
    kind = served.types.type_for(_OPTIONS.group, _OPTIONS.version, _OPTIONS.kind)
    try:
        content = await contents.read(body, request, served.types, _OPTIONS)
        _check_type(content, body)
        decoded = kind.decode(content.value, text=content.text).obj
        recorded.sent_options(context, decoded)
        return delete_options_of(decoded)
    except contents.Unreadable as exc:
        raise errors.BadRequest(str(exc)) from exc
    except DecodeError as exc:
        raise errors.BadRequest(exc.message) from exc


def _check_type(content: contents.Content, body: bytes) -> None:
    """Raises BadRequest for another type than options, in whatever version; Unreadable for none."""
    group, version, kind = content.type()
    if not group and not version:
        group, version = META_GROUP, "v1"
    if not version:
        raise errors.BadRequest(f"Object 'apiVersion' is missing in '{body.decode(errors='replace')}'")
    if kind in {"", _OPTIONS.kind}:
        return
    if kind in _OF_ALL_VERSIONS or (group == META_GROUP and kind in _OF_VERSIONS.get(version, ())):
        raise errors.BadRequest(f"converting (v1.{kind}) to (v1.{_OPTIONS.kind}): unknown conversion")
    where = f"version {quote(f'{group}/{version}' if group else version)}"
    if version == _INTERNAL:
        where = f"the internal version of group {quote(group)}"
    raise errors.BadRequest(f'no kind {quote(kind)} is registered for {where} in scheme "{_SCHEME}"')
