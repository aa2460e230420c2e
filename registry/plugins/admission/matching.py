"""Matching: whether a webhook or an admission policy matches a write, and in which version.

It knows rules, selectors and matchPolicy, but not which plugin uses them. Must hold: rules are checked before namespace
selectors, so that no namespace is read for a write that no rule matches. A missing namespace is an error, not a
mismatch. A write of a Namespace is matched by the labels that the write gives it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.base.validation import label_selectors
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.generic.forms import present
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.groups.authentication import provider as authentication
from aio_apiserver.registry.groups.authorization import provider as authorization
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.storage.interface import Reader

_ANY = "*"
_NAMESPACES = NAMESPACES.resource
_CONFIGURATION_GROUP = "admissionregistration.k8s.io"
REVIEWS = frozenset(
    {
        authentication.TOKEN.resource,
        authentication.SELF.resource,
        authorization.SUBJECT.resource,
        authorization.SELF.resource,
        authorization.LOCAL.resource,
        authorization.RULES.resource,
    }
)
"""Resources that are questions to the server. A client creates them, and nothing is stored."""
_BEYOND_POLICIES = REVIEWS | {
    GroupResource(_CONFIGURATION_GROUP, f"{kind}admission{what}")
    for kind in ("validating", "mutating")
    for what in ("policies", "policybindings")
}
_WRITTEN = frozenset({Operation.CREATE, Operation.UPDATE})

Selector = Mapping[str, Any]


def is_configuration(attributes: Attributes) -> bool:
    """Whether a write changes the configuration of admission. Webhooks are not called for it."""
    return attributes.kind.group == _CONFIGURATION_GROUP


def is_beyond_policies(attributes: Attributes) -> bool:
    """Whether admission policies do not apply to a write: reviews, and the policies and bindings themselves.

    Without this, a policy could lock all users out of the cluster. Webhook configurations are not exempt from policies.
    """
    return attributes.resource in _BEYOND_POLICIES


class RuleWithOperations(Struct, frozen=True):
    """Operations on resources, as in `rules`. Without `names` it matches objects of every name."""

    operations: Collection[str]
    groups: Collection[str]
    versions: Collection[str]
    resources: Collection[tuple[str, str]]
    scope: str = _ANY
    names: Collection[str] = ()

    def matches(self, attributes: Attributes, resource: GroupResource, version: str) -> bool:
        """Whether the rule matches a write, taken as a write of this resource and version."""
        return (
            self._has_scope(attributes, resource)
            and _has(self.operations, attributes.operation.value)
            and _has(self.groups, resource.group)
            and _has(self.versions, version)
            and any(
                one in {_ANY, resource.resource} and sub in {_ANY, attributes.subresource}
                for one, sub in self.resources
            )
            and (not self.names or attributes.name in self.names)
        )

    def _has_scope(self, attributes: Attributes, resource: GroupResource) -> bool:
        """A Namespace counts as cluster-scoped, although requests for it carry a namespace."""
        is_in_none = resource == _NAMESPACES or not attributes.namespace
        match self.scope:
            case "Namespaced":
                return not is_in_none
            case "Cluster":
                return is_in_none
            case _:
                return True


def _has(values: Collection[str], value: str) -> bool:
    return value in values or _ANY in values


def rule_of(given: Mapping[str, Any]) -> RuleWithOperations:
    """The rule of a RuleWithOperations."""
    parts = [text.partition("/") for text in given.get("resources") or ()]
    return RuleWithOperations(
        frozenset(given.get("operations") or ()),
        frozenset(given.get("apiGroups") or ()),
        frozenset(given.get("apiVersions") or ()),
        [(resource, subresource) for resource, _, subresource in parts],
        given.get("scope") or _ANY,
        frozenset(given.get("resourceNames") or ()),
    )


class Criteria(Struct, frozen=True, kw_only=True):
    """The criteria of a webhook, policy or binding. Without rules every write matches. `is_exact`: matchPolicy is
    Exact.
    """

    rules: Sequence[RuleWithOperations] | None
    excluded: Sequence[RuleWithOperations] = ()
    namespace_selector: Selector = field(default_factory=dict)
    object_selector: Selector = field(default_factory=dict)
    is_exact: bool = False


def criteria_of_webhook(webhook: Mapping[str, Any]) -> Criteria:
    """The criteria of a webhook."""
    return Criteria(
        rules=[rule_of(one) for one in webhook.get("rules") or ()],
        namespace_selector=webhook.get("namespaceSelector") or {},
        object_selector=webhook.get("objectSelector") or {},
        is_exact=webhook.get("matchPolicy") != "Equivalent",
    )


def criteria_of_resources(wanted: Mapping[str, Any]) -> Criteria:
    """The criteria in the matchConstraints of a policy or the matchResources of a binding."""
    rules = [rule_of(one) for one in wanted.get("resourceRules") or ()]
    return Criteria(
        rules=rules or None,
        excluded=[rule_of(one) for one in wanted.get("excludeResourceRules") or ()],
        namespace_selector=wanted.get("namespaceSelector") or {},
        object_selector=wanted.get("objectSelector") or {},
        is_exact=wanted.get("matchPolicy") != "Equivalent",
    )


class Matcher:
    """Matches writes. `namespaces` is the storage of namespaces."""

    def __init__(self, namespaces: Reader, types: Catalog) -> None:
        self._namespaces = Lookup(namespaces, _NAMESPACES, as_stored)
        self._types = types

    async def namespace(self, name: str) -> Object:
        """The cached namespace, which callers must not change. Raises StatusError."""
        found = await self._namespaces.get(name)
        if found is None:
            raise errors.NotFound(_NAMESPACES, name)
        return found

    def forms(self, attributes: Attributes) -> Sequence[AdmissionForm]:
        """The forms in which a write can be seen. The form of the request comes first."""
        return present(
            attributes.resource,
            attributes.version,
            attributes.kind,
            subresource=attributes.subresource,
            forms=attributes.forms,
            types=self._types,
        )

    async def match(self, attributes: Attributes, criteria: Criteria) -> AdmissionForm | None:
        """The form in which a write matches; None when it does not. Raises StatusError."""
        if not _selects_object(criteria.object_selector, attributes):
            return None
        forms = self.forms(attributes)
        if criteria.excluded and _matching_form(criteria.excluded, attributes, forms, is_exact=criteria.is_exact):
            return None
        form: AdmissionForm | None = forms[0]
        if criteria.rules is not None:
            form = _matching_form(criteria.rules, attributes, forms, is_exact=criteria.is_exact)
        if form is None or not await self._selects_namespace(criteria.namespace_selector, attributes):
            return None
        return form

    async def _selects_namespace(self, selector: Selector, attributes: Attributes) -> bool:
        is_namespace = attributes.resource.resource == _NAMESPACES.resource
        if label_selectors.is_empty(selector) or not (attributes.namespace or is_namespace):
            return True
        if is_namespace and not attributes.subresource and attributes.operation in _WRITTEN:
            assert attributes.obj is not None
            return _selects(selector, attributes.obj)
        return _selects(selector, await self.namespace(attributes.namespace))


def _matching_form(
    rules: Sequence[RuleWithOperations], attributes: Attributes, forms: Sequence[AdmissionForm], *, is_exact: bool
) -> AdmissionForm | None:
    """The form that a rule matches: first the form of the request, then other forms in the order of the rules."""
    own, *others = forms
    if any(rule.matches(attributes, own.resource, own.version) for rule in rules):
        return own
    if is_exact:
        return None
    pairs = ((rule, form) for rule in rules for form in others)
    return next((form for rule, form in pairs if rule.matches(attributes, form.resource, form.version)), None)


def _selects_object(selector: Selector, attributes: Attributes) -> bool:
    if label_selectors.is_empty(selector):
        return True
    return any(obj is not None and _selects(selector, obj) for obj in (attributes.obj, attributes.old))


def _selects(selector: Selector, obj: Object) -> bool:
    metadata = obj.get("metadata")
    return metadata is not None and label_selectors.selects(selector, metadata.get("labels") or {})
