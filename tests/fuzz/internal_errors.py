"""Internal errors: the 500s that kube-apiserver gives for mistakes of clients, too. Every other 500 is a defect here.

Each row is a text that kube-apiserver v1.36.4 answered with 500, in the recordings or to the same request by hand, or
that its source answers so.
"""

import re
from collections.abc import Mapping

_STRATEGIC = "a strategic merge patch that does not fit the object; upstream returns a plain error"

REASONS: Mapping[str, str] = {
    r"strconv.ParseUint: parsing": "a resource version that is no number",
    r"failed to create RequestInfo: unable to determine kind and namespace": "/watch and /proxy without a resource",
    r"target\.\w+: ": "a binding without a target",
    r"resourceVersion should not be set on objects to be created": "a create with a resource version",
    r"failed to create typed patch object": "an apply that does not fit the schema",
    r"failed to convert live object": "an apply to an object that does not fit the schema",
    r"failed to convert new object": "an apply with a time that is none",
    r"does not contain declared merge key": _STRATEGIC,
    r"unknown patch type: ": _STRATEGIC,
    r"list element types are not identical": _STRATEGIC,
    r"The order in patch list:": _STRATEGIC,
    r"expected a (\[\]interface|map\[string\]interface) \{\}, but received": _STRATEGIC,
    r"unable to find api field in struct": _STRATEGIC,
    r"merging an object in json but data type is not struct": _STRATEGIC,
    r"duplicate nodePort: ": "a service with one node port twice",
    r"failed to allocate requested HealthCheck NodePort": "a service with a taken port for its health checks",
    r"failed to allocate a serviceIP": "a service, when no address is free, or a client has deleted the ServiceCIDRs",
    r"content is not a list": "the metadata of one custom resource, asked for as a list",
    r"invalid resource name |resource name may not be empty": "a namespace or a runtime class that cannot be one",
    r"value for key \d+ is not a map": _STRATEGIC,
    r"Non-matching dry-run options in request and content": "an eviction that is a dry run by half",
    r"unsupported role reference kind": "a binding by a user with limited rights, without a kind of its role",
    r"more than one PodDisruptionBudget": "an eviction that two budgets cover",
    r"the spec replicas field .* does not exist": "a scale of a custom resource without replicas",
}


def reason(text: str) -> str:
    """Why kube-apiserver answers this with a 500 as well; empty when it does not."""
    return next((why for pattern, why in REASONS.items() if re.search(pattern, text)), "")
