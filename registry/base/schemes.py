"""Schemes: the Go scheme that decodes an API group, which kube-apiserver names in some messages.

kube-apiserver consists of three servers with a scheme each; a group names its own in its types.json. Must hold: a group
is in one scheme.
"""

from aio_apiserver.registry.base import type_facts
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import ALWAYS, Dated


def scheme_of(group: str) -> str:
    """The Go file and line of the group's scheme."""
    return type_facts.of_group(group).scheme


CUSTOM_RESOURCES = Dated(
    {
        ALWAYS: "pkg/apiserver/customresource_handler.go:730",
        (1, 35): "pkg/apiserver/customresource_handler.go:781",
        (1, 36): "k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781",
    }
)
DELETE_OPTIONS = Dated(
    {
        ALWAYS: "pkg/apis/meta/internalversion/scheme/register.go:27",
        (1, 36): "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27",
    }
)
AUDIT_POLICIES = "k8s.io/apiserver/pkg/audit/scheme.go:30"
WEBHOOK_RESPONSES = Dated(
    {
        ALWAYS: "pkg/util/webhook/client.go:71",
        (1, 36): "k8s.io/apiserver/pkg/util/webhook/client.go:71",
        (1, 37): "k8s.io/apiserver/pkg/util/webhook/client.go:74",
    }
)
"""Schemes of other things than the objects of a group. Lines without minors are those of v1.36."""


def not_registered(kind: str, api_version: str, scheme: str) -> str:
    """The error for a kind that a scheme does not know."""
    return f"no kind {quote(kind)} is registered for version {quote(api_version)} in scheme {quote(scheme)}"
