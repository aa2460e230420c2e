"""ingresses_columns: the columns of an Ingress: its class, its hosts and its addresses."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE

_SHOWN_HOSTS = 3


def _hosts(ingress: Object, _now: float) -> str:
    """The first three hosts. The number of further ones counts rules, as in kube-apiserver."""
    rules = objects.get(ingress, "spec.rules", ())
    named = [number for number, rule in enumerate(rules) if rule.get("host")]
    hosts = [rules[number]["host"] for number in named]
    if not hosts:
        return "*"
    is_cut = len(hosts) >= _SHOWN_HOSTS and named[_SHOWN_HOSTS - 1] < len(rules) - 1
    return formats.with_more(hosts, _SHOWN_HOSTS, len(rules) if is_cut else len(hosts))


COLUMNS = table_of(
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
