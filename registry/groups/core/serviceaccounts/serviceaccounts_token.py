"""ServiceAccounts token: serviceaccounts/token, which issues a token, bound to an object on request."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind, GroupResource, GroupVersionKind
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic import url_names
from aio_apiserver.registry.generic.access.service_account_claims import Bound, Reference
from aio_apiserver.registry.generic.access.token_issuer import TokenIssuer
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.admission_attributes import attributes_of
from aio_apiserver.registry.generic.bound_objects import BoundObject, BoundObjects
from aio_apiserver.registry.generic.field_managers import field_managers
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Environment, Request, timestamp
from aio_apiserver.registry.generic.reviews import review
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.machinery.view import typed

_ISSUED = "authentication.kubernetes.io/issued-credential-id"
TOKENREQUEST = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
_SUBRESOURCE = "token"

_LEAST_SECONDS = 600
_MOST_SECONDS = 2**32
_TOO_SHORT = "may not specify a duration less than 10 minutes"
_TOO_LONG = "may not specify a duration larger than 2^32 seconds"
_BINDABLE: Mapping[str, Kind] = {kind.kind: kind for kind in (PODS, NODES, SECRETS)}


class TokenREST:
    """Issues tokens and stores nothing."""

    def __init__(self, environment: Environment) -> None:
        self._issuer: TokenIssuer = environment.issuer
        self._admission = environment.admission
        self._types = environment.types
        requests = review(TOKENREQUEST.group, "tokenrequests", TOKENREQUEST.kind, is_namespaced=True)
        self._manager = field_managers(requests, environment.types, environment.clock).of(
            TOKENREQUEST.version, _SUBRESOURCE
        )
        self._clock = environment.clock
        self._bound_objects = BoundObjects(environment.storage_for)

    @property
    def kind(self) -> Kind:
        return SERVICEACCOUNTS

    def object_kind(self, version: str) -> GroupVersionKind:
        return TOKENREQUEST

    async def create(self, request: Request, obj: Object, options: CreateOptions, *, name: str = "") -> Object:
        url_names.settle_namespace(obj, request, self.kind)
        self._manager.track(None, obj, options.field_manager or request.manager, request.empties)
        attributes = attributes_of(
            request,
            Operation.CREATE,
            options,
            resource=SERVICEACCOUNTS.resource,
            kind=TOKENREQUEST,
            name=name,
            subresource=_SUBRESOURCE,
            obj=obj,
        )
        await self._admission.mutate(attributes)
        account = await self._account(request, obj, name)
        now = self._clock.now()
        self._complete(obj, account, now)
        if found := _validate(obj):
            raise invalid_of(GroupKind(TOKENREQUEST.group, TOKENREQUEST.kind), "", found)
        await self._admission.validate(attributes)
        bound = await self._bound(obj, account)
        seconds = self._limited(request, obj["spec"])
        audiences = obj["spec"]["audiences"]
        try:
            issued = await self._issuer.issue(bound, audiences=audiences, now=int(now), seconds=seconds)
        except (OSError, ValueError) as exc:
            raise errors.InternalError(f"failed to generate token: {exc}") from exc
        request.annotate(_ISSUED, f"JTI={issued.identifier}")
        obj["status"] = {"token": issued.token, "expirationTimestamp": timestamp(now + seconds)}
        kind = self._types.type_for(TOKENREQUEST.group, TOKENREQUEST.version, TOKENREQUEST.kind)
        return kind.canonical(typed(TOKENREQUEST, obj))

    async def _account(self, request: Request, obj: Object, name: str) -> Object:
        """The service account of the URL. Raises NotFound, and Invalid or Conflict when the body names another one."""
        metadata = obj["metadata"]
        for part, wanted in (("name", name), ("namespace", request.namespace)):
            given = metadata.get(part, "")
            if given and given != wanted:
                detail = f"must match the service account {part} if specified"
                wrong = [field.invalid(f"metadata.{part}", given, detail)]
                raise invalid_of(GroupKind(TOKENREQUEST.group, TOKENREQUEST.kind), name, wrong)
        if not request.namespace:
            raise url_names.namespace_needed()
        account = (await self._find(SERVICEACCOUNTS, request.namespace, name)).obj
        uid = account["metadata"]["uid"]
        if (given := metadata.get("uid", "")) and given != uid:
            why = f"the UID in the token request ({given}) does not match the UID of the service account ({uid})"
            raise errors.Conflict(GroupResource(TOKENREQUEST.group, TOKENREQUEST.kind), name, why=why)
        return account

    def _complete(self, obj: Object, account: Object, now: float) -> None:
        """Fill in the fields of the TokenRequest that the client leaves out."""
        metadata, spec = obj["metadata"], obj["spec"]
        metadata |= {part: account["metadata"][part] for part in ("name", "namespace", "uid")}
        metadata["creationTimestamp"] = timestamp(now)
        spec["audiences"] = spec.get("audiences") or list(self._issuer.own_audiences)
        obj.pop("status", None)

    async def _bound(self, obj: Object, account: Object) -> Bound:
        """The objects to which the token is bound. Raises NotFound, BadRequest, Conflict."""
        namespace, me = account["metadata"]["namespace"], _reference(account)
        reference = obj["spec"].get("boundObjectRef")
        if reference is None:
            return Bound(namespace=namespace, account=me)
        found = await self._referred(reference, namespace, me.name)
        if found.kind is SECRETS:
            return Bound(namespace=namespace, account=me, secret=_reference(found.obj))
        if found.kind is NODES:
            return Bound(namespace=namespace, account=me, node=_reference(found.obj))
        node = await self._node_of(found.obj)
        return Bound(namespace=namespace, account=me, pod=_reference(found.obj), node=node)

    async def _referred(self, reference: Mapping[str, Any], namespace: str, account: str) -> "_Referred":
        api_version, name = reference.get("apiVersion", ""), reference.get("kind", "")
        group, _, version = api_version.rpartition("/") if api_version.count("/") < 2 else ("", "", "")
        kind = None if group else _BINDABLE.get(name)
        if kind is None:
            raise errors.BadRequest(f"cannot bind token to object of type {group}/{version}, Kind={name}")
        if not reference.get("name"):
            raise errors.BadRequest("Name parameter required.")
        obj = (await self._find(kind, namespace if kind.is_namespaced else "", reference["name"])).obj
        if kind is PODS and objects.get(obj, "spec.serviceAccountName", "") != account:
            raise errors.BadRequest(
                f"cannot bind token for serviceaccount {quote(account)} to pod running with different "
                "serviceaccount name."
            )
        if (given := reference.get("uid", "")) and given != obj["metadata"]["uid"]:
            why = (
                f"the UID in the bound object reference ({given}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
            raise errors.Conflict(GroupResource(group, name), reference.get("name", ""), why=why)
        return _Referred(kind, obj)

    async def _node_of(self, pod: Object) -> Reference | None:
        """The node of a pod. When the node does not exist, the reference has its name alone."""
        name = objects.get(pod, "spec.nodeName", "")
        if not name:
            return None
        try:
            return _reference((await self._bound_objects.find(NODES, "", name)).obj)
        except errors.NotFound:
            return Reference(name)

    async def _find(self, kind: Kind, namespace: str, name: str) -> BoundObject:
        return await self._bound_objects.newest(kind, namespace, name)

    def _limited(self, request: Request, spec: Object) -> int:
        """The lifetime of the token, limited by the flags."""
        most, wanted = self._issuer.max_seconds, int(spec["expirationSeconds"])
        if most and wanted > most:
            request.warn(f"requested expiration of {wanted} seconds shortened to {most} seconds")
            spec["expirationSeconds"] = most
        return int(spec["expirationSeconds"])


class _Referred(NamedTuple):
    """The object to which the client wants to bind the token."""

    kind: Kind
    obj: Object


def _reference(obj: Object) -> Reference:
    return Reference(obj["metadata"]["name"], obj["metadata"]["uid"])


def _validate(obj: Object) -> list[FieldError]:
    path, seconds = "spec.expirationSeconds", obj["spec"]["expirationSeconds"]
    errors = []
    if seconds < _LEAST_SECONDS:
        errors.append(field.invalid(path, seconds, _TOO_SHORT))
    if seconds > _MOST_SECONDS:
        errors.append(field.invalid(path, seconds, _TOO_LONG))
    return errors
