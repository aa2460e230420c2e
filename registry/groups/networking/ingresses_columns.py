"""Ingresses and their classes, network policies, and the addresses of services."""

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, Columns, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE
from aio_apiserver.storage.stored_object import Object

_SHOWN_HOSTS = 3


def _hosts(ingress: Object, _now: float) -> str:
    """Hosts up to the third; how many more is counted in rules."""
    rules = objects.get(ingress, "spec.rules", ())
    named = [number for number, rule in enumerate(rules) if rule.get("host")]
    hosts = [rules[number]["host"] for number in named]
    if not hosts:
        return "*"
    is_cut = len(hosts) >= _SHOWN_HOSTS and named[_SHOWN_HOSTS - 1] < len(rules) - 1
    return formats.with_more(hosts, _SHOWN_HOSTS, len(rules) if is_cut else len(hosts))


INGRESSES = table_of(
    NAME,
    (
        Column(
            name="Class",
            text="The name of the IngressClass resource that should be used for additional configuration",
        ),
        value("spec.ingressClassName", NONE),
    ),
    (Column(name="Hosts", text="Hosts that incoming requests are matched against before the ingress rule"), _hosts),
    (
        Column(name="Address", text="Address is a list containing ingress points for the load-balancer"),
        lambda obj, _now: formats.addresses(objects.get(obj, "status.loadBalancer.ingress", ())),
    ),
    (
        Column(name="Ports", text="Ports of TLS configurations that open"),
        lambda obj, _now: "80, 443" if objects.get(obj, "spec.tls") else "80",
    ),
    AGE,
)


def _parameters(obj: Object, _now: float) -> str:
    parameters = objects.get(obj, "spec.parameters")
    if parameters is None:
        return NONE
    group = parameters.get("apiGroup")
    kind = parameters.get("kind", "") if group is None else f"{parameters.get('kind', '')}.{group}"
    return f"{kind}/{parameters.get('name', '')}"


INGRESS_CLASSES = table_of(
    (NAME[0], formats.marked_name("ingressclass.kubernetes.io/is-default-class")),
    (
        Column(name="Controller", text="Controller that is responsible for handling this class"),
        value("spec.controller"),
    ),
    (Column(name="Parameters", text="A reference to a resource with additional parameters"), _parameters),
    AGE,
)
NETWORK_POLICIES = table_of(
    NAME,
    (
        Column(name="Pod-Selector", field="networking.v1.NetworkPolicySpec.podSelector"),
        formats.selector("spec.podSelector"),
    ),
    AGE,
)
SERVICE_CIDRS = table_of(
    NAME,
    (
        Column(name="CIDRs", field="networking.v1.ServiceCIDRSpec.cidrs"),
        lambda obj, _now: ",".join(objects.get(obj, "spec.cidrs", ())),
    ),
    AGE,
)


def _parent(address: Object, _now: float) -> str:
    parent = objects.get(address, "spec.parentRef")
    if parent is None:
        return NONE
    resource, group = parent.get("resource", ""), parent.get("group", "")
    parts = [f"{resource}.{group}" if group else resource, parent.get("namespace", ""), parent.get("name", "")]
    parts[0] = parts[0].lower()
    return "/".join(part for part in parts if part)


_ADDRESSES = table_of(NAME, (Column(name="ParentRef", field="networking.v1.IPAddressSpec.parentRef"), _parent), AGE)
IP_ADDRESSES = Columns(_ADDRESSES.columns[:2], _ADDRESSES.cells)
"""The age has a cell and no column: so it is upstream."""
