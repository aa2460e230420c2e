"""schemes: the places in the source where kube-apiserver makes its schemes, which it names in messages."""

from collections.abc import Mapping

from scripts.upstream.facts.release import Release
from scripts.upstream.problems import NotUnderstood

_CALL = "runtime.NewScheme()"
_STAGING = "staging/src/"
FILES = {
    "audit": "staging/src/k8s.io/apiserver/pkg/audit/scheme.go",
    "apiextensions": "staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go",
    "apiregistration": "staging/src/k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go",
    "custom resources": "staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go",
    "kubernetes": "pkg/api/legacyscheme/scheme.go",
    "options": "staging/src/k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go",
    "webhooks": "staging/src/k8s.io/apiserver/pkg/util/webhook/client.go",
}


def of_release(release: Release) -> Mapping[str, str]:
    """The file and line of each scheme. Raises NotUnderstood."""
    return {name: _place(release, path) for name, path in FILES.items()}


def _place(release: Release, path: str) -> str:
    lines = [number for number, line in enumerate(release.tree.read(path).splitlines(), 1) if _CALL in line]
    if len(lines) != 1:
        raise NotUnderstood(path, 1, f"{_CALL} stands there {len(lines)} times")
    return f"{path.removeprefix(_STAGING)}:{lines[0]}"
