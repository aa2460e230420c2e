"""delete_options: decodes the DeleteOptions in the body of a DELETE.

Must hold: errors are reported without the prefix that errors of objects have.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, schemes
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.bodies import contents
from aio_apiserver.registry.generic.bodies.contents import Body
from aio_apiserver.registry.generic.options import META_GROUP
from aio_apiserver.registry.machinery.schema import Catalog, DecodeError

_OPTIONS = GroupVersionKind("", "v1", "DeleteOptions")
_INTERNAL = "__internal"

_OF_ALL_VERSIONS = frozenset(
    {"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"}
    | {"CreateOptions", "GetOptions", "PatchOptions", "UpdateOptions"}
)
_FORMS = frozenset({"PartialObjectMetadata", "PartialObjectMetadataList", "Table", "TableOptions"})
_OF_VERSIONS = {"v1": _FORMS | {"ListOptions", "WatchEvent"}, "v1beta1": _FORMS}
"""Other kinds beside the options: those of all versions, and those of one version of meta.k8s.io."""


async def decode(body: Body, types: Catalog) -> Object:
    """The DeleteOptions in a body; not yet checked. Raises BadRequest, UnsupportedMediaType."""
    kind = types.type_for(_OPTIONS.group, _OPTIONS.version, _OPTIONS.kind)
    try:
        content = await contents.read(body, types, _OPTIONS)
        _check_type(content, body.text, schemes.place_of(schemes.DELETE_OPTIONS, types.version))
        return kind.decode(content.value, text=content.text, text_of=content.text_of).obj
    except contents.UnreadableBody as exc:
        raise errors.BadRequest(str(exc)) from exc
    except DecodeError as exc:
        raise errors.BadRequest(exc.message) from exc


def internal(options: Object, types: Catalog) -> Object:
    """Decoded options as kube-apiserver's audit prints them: in their internal version."""
    shown = types.type_for(_OPTIONS.group, _OPTIONS.version, _OPTIONS.kind).canonical(options)
    kind = {"kind": _OPTIONS.kind, "apiVersion": f"{META_GROUP}/{_INTERNAL}"}
    return {**kind, **shown, **kind}


def _check_type(content: contents.BodyContent, body: bytes, scheme: str) -> None:
    """Raises BadRequest for another type than options, in any version; UnreadableBody for a malformed type."""
    group, version, kind = content.type()
    if not group and not version:
        group, version = META_GROUP, "v1"
    if not version:
        raise errors.BadRequest(f"Object 'apiVersion' is missing in '{body.decode(errors='replace')}'")
    if kind in {"", _OPTIONS.kind}:
        return
    if kind in _OF_ALL_VERSIONS or (group == META_GROUP and kind in _OF_VERSIONS.get(version, ())):
        raise errors.BadRequest(f"converting (v1.{kind}) to (v1.{_OPTIONS.kind}): unknown conversion")
    if version == _INTERNAL:
        where = f"the internal version of group {quote(group)}"
        raise errors.BadRequest(f"no kind {quote(kind)} is registered for {where} in scheme {quote(scheme)}")
    api_version = f"{group}/{version}" if group else version
    raise errors.BadRequest(schemes.not_registered(kind, api_version, scheme))
