"""Webhooks: functions of a test as admission and conversion webhooks.

    def own_image(review):
        review.object["spec"]["containers"][0]["image"] = "registry.local/web"

    with server.webhooks.mutating(own_image, "pods"):
        ...

It registers webhook configurations, or the conversion of a definition, with a loopback URL and the CA of the server.
Must hold: every write while the context is open calls the function. Writes before and after it do not.
"""

import base64
import copy
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Literal, TypedDict, Unpack, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from aio_apiserver.apiserver.config.suggestions import did_you_mean
from aio_apiserver.testing import hooks, reviews
from aio_apiserver.testing.bench.shown_arguments import shows_arguments
from aio_apiserver.testing.client import BlockingClient, Refused
from aio_apiserver.testing.hooks import Answer, Call, Hook, HookAddress, HookHost, HookRegistration
from aio_apiserver.testing.reviews import Denied, Object, Review

_ROOT = "/apis/admissionregistration.k8s.io/v1"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_MERGE = "application/merge-patch+json"
_DOMAIN = "testing.apiserver"
_GONE = 404
_CREATE_UPDATE = ("CREATE", "UPDATE")
_OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT", "*")


class WebhookFields(TypedDict, total=False):
    """More fields of a webhook, as in the API."""

    failurePolicy: Literal["Fail", "Ignore"]
    matchPolicy: Literal["Exact", "Equivalent"]
    namespaceSelector: Object
    objectSelector: Object
    matchConditions: Sequence[Object]
    sideEffects: Literal["None", "NoneOnDryRun"]
    timeoutSeconds: int


class MutatingWebhookFields(WebhookFields, total=False):
    """More fields of a mutating webhook."""

    reinvocationPolicy: Literal["Never", "IfNeeded"]


@shows_arguments
class Webhooks:
    """The webhooks of one server."""

    def __init__(self, host: HookHost) -> None:
        self._host = host
        self._open: WeakKeyDictionary[Hook, str] = WeakKeyDictionary()

    def mutating(
        self,
        function: Call,
        *resources: str,
        operations: Sequence[str] = _CREATE_UPDATE,
        name: str = "",
        **webhook: Unpack[MutatingWebhookFields],
    ) -> Hook:
        """Register a function as a mutating webhook.

        It gets a Review and changes its `object`, or returns another one or a JSON patch. `deny` denies. resources:
        `pods`, `deployments.apps`, `pods/status`. webhook: more fields, as in the API: failurePolicy="Ignore",
        namespaceSelector={...}.
        """
        _check(webhook, MutatingWebhookFields)
        entry = {"reinvocationPolicy": "Never", **webhook}
        return self._admission("Mutating", function, reviews.mutated, resources, operations, name, entry)

    def validating(
        self,
        function: Call,
        *resources: str,
        operations: Sequence[str] = _CREATE_UPDATE,
        name: str = "",
        **webhook: Unpack[WebhookFields],
    ) -> Hook:
        """Register a function as a validating webhook.

        It gets a Review, and denies with `deny`, or by returning False or a reason. The rest is as for `mutating`.
        """
        _check(webhook, WebhookFields)
        return self._admission("Validating", function, reviews.allowed, resources, operations, name, webhook)

    def conversion(self, definition: str, function: Call) -> Hook:
        """Register a function as the conversion webhook of a definition. It gets an object and the wanted apiVersion.

        It changes the object or returns another one. Its apiVersion is set afterwards.
        """
        return self._hook(definition, _Conversion(definition), _converting(function))

    def close(self) -> None:
        """Close all open webhooks, also when one of them cannot be withdrawn."""
        with ExitStack() as closing:
            for hook in list(self._open):
                closing.callback(hook.close)

    def _admission(
        self,
        sort: str,
        function: Call,
        answer: Callable[[Review, Any], Object],
        resources: Sequence[str],
        operations: Sequence[str],
        name: str,
        webhook: Mapping[str, Any],
    ) -> Hook:
        if not callable(function):
            raise TypeError(f"the first argument of a webhook is its function, not {function!r}")
        if not resources:
            raise ValueError("a webhook needs resources: `pods`, `deployments.apps`, `*`")
        self._host.resources.check(resources)
        if unknown := [one for one in operations if one not in _OPERATIONS]:
            raise ValueError(f"there is no operation {unknown[0]!r}{did_you_mean(unknown[0], _OPERATIONS)}")
        named = name or self._free_name(function)
        entry = {
            "name": named,
            "rules": [{**_rule(resource), "operations": list(operations)} for resource in resources],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **webhook,
        }
        return self._hook(named, _Configuration(sort, entry), _reviewing(function, answer))

    def _hook(self, name: str, registration: HookRegistration, answer: Answer) -> Hook:
        hook = Hook(self._host, registration, answer, self._forget)
        self._open[hook] = name
        return hook

    def _forget(self, hook: Hook) -> None:
        del self._open[hook]

    def _free_name(self, function: Call) -> str:
        """A name made from the function's, which no open hook has."""
        plain = re.sub(r"[^a-z0-9]+", "-", getattr(function, "__name__", "").lower()).strip("-") or "webhook"
        taken, number = self._open.values(), 1
        while (name := f"{plain}-{number}.{_DOMAIN}" if number > 1 else f"{plain}.{_DOMAIN}") in taken:
            number += 1
        return name


def _check(given: Mapping[str, Any], fields: type[WebhookFields]) -> None:
    for name in given:
        if name not in fields.__annotations__:
            raise TypeError(f"a webhook has no field {name}{did_you_mean(name, fields.__annotations__)}")
    for name, kind in get_type_hints(fields).items():
        if get_origin(kind) is Literal and given.get(name, (known := get_args(kind))[0]) not in known:
            message = did_you_mean(str(given[name]), known) or f": it is {' or '.join(known)}"
            raise ValueError(f"a webhook has no {name} {given[name]!r}{message}")


class _Configuration:
    """Registers a webhook configuration of its own."""

    def __init__(self, sort: str, webhook: Object) -> None:
        self._kind = f"{sort}WebhookConfiguration"
        self._path = f"{_ROOT}/{self._kind.lower()}s"
        self._webhook = webhook

    def put(self, client: BlockingClient, place: HookAddress) -> None:
        webhook = {**self._webhook, "clientConfig": _client_config(place)}
        metadata = {"name": self._webhook["name"]}
        client.request("POST", self._path, {"kind": self._kind, "metadata": metadata, "webhooks": [webhook]})

    def withdraw(self, client: BlockingClient) -> None:
        _request_if_there(client, "DELETE", f"{self._path}/{self._webhook['name']}")


class _Conversion:
    """Registers the conversion of a CustomResourceDefinition."""

    def __init__(self, definition: str) -> None:
        self._path = f"{_DEFINITIONS}/{definition}"
        self._before: Object = {}

    def put(self, client: BlockingClient, place: HookAddress) -> None:
        self._before = client.request("GET", self._path)["spec"]["conversion"]
        webhook = {"clientConfig": _client_config(place), "conversionReviewVersions": ["v1"]}
        self._set(client, {"strategy": "Webhook", "webhook": webhook})

    def withdraw(self, client: BlockingClient) -> None:
        if self._before:
            self._set(client, {"webhook": None, **self._before})

    def _set(self, client: BlockingClient, conversion: Object) -> None:
        _request_if_there(client, "PATCH", self._path, {"spec": {"conversion": conversion}})


def _request_if_there(client: BlockingClient, method: str, path: str, body: Object | None = None) -> None:
    """Send a request, and ignore 404: a reset or a test may have deleted the registration already."""
    try:
        client.request(method, path, body, content_type=_MERGE if body is not None else "application/json")
    except Refused as refusal:
        if refusal.status != _GONE:
            raise


def _client_config(place: HookAddress) -> Object:
    return {"url": place.url, "caBundle": base64.b64encode(place.authority.encode()).decode()}


def _rule(resource: str) -> Object:
    """The rule for a resource such as `deployments.apps/scale`."""
    name, _, subresource = resource.partition("/")
    plural, _, group = name.partition(".")
    group = "*" if plural == "*" and not group else group
    path = f"{plural}/{subresource}" if subresource else plural
    return {"apiGroups": [group], "apiVersions": ["*"], "resources": [path]}


def _reviewing(function: Call, answer: Callable[[Review, Any], Object]) -> Answer:
    async def reviewed(hook: Hook, request: Object) -> Object:
        review = Review(request)
        try:
            return answer(review, await hook.run(function, review))
        except Denied as denied:
            return reviews.denied(review, denied)
        except BaseException as failure:
            if hooks.is_ours(failure):
                raise
            hook.failed(failure)
            return reviews.denied(review, Denied(_failure_message(function, failure), code=500, reason="InternalError"))

    return reviewed


def _converting(function: Call) -> Answer:
    async def one(hook: Hook, obj: Object, version: str) -> Object:
        given = copy.deepcopy(obj)
        result = await hook.run(function, given, version)
        return {**(given if result is None else result), "apiVersion": version}

    async def converted(hook: Hook, request: Object) -> Object:
        wanted: str = request["desiredAPIVersion"]
        try:
            return reviews.converted(request, [await one(hook, obj, wanted) for obj in request["objects"]])
        except Denied as denied:
            return reviews.not_converted(request, str(denied))
        except BaseException as failure:
            if hooks.is_ours(failure):
                raise
            hook.failed(failure)
            return reviews.not_converted(request, _failure_message(function, failure))

    return converted


def _failure_message(function: Call, failure: BaseException) -> str:
    """The message for the client. The test itself raises the exception with its traceback."""
    return f"{getattr(function, '__name__', 'the function')} raised {type(failure).__name__}: {failure}"
