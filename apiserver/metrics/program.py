"""Program: metrics of the program itself: its version and its feature gates."""

from collections.abc import Iterable, Mapping

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Stability
from aio_apiserver.registry.base.gates import Gates

_BUILD = {
    "build_date": "buildDate",
    "compiler": "compiler",
    "git_commit": "gitCommit",
    "git_tree_state": "gitTreeState",
    "git_version": "gitVersion",
    "go_version": "goVersion",
    "major": "major",
    "minor": "minor",
    "platform": "platform",
}


def versions(info: Mapping[str, str]) -> Iterable[AnyFamily]:
    """The version, from the document of /version."""
    build = metric_families.gauge(
        "kubernetes_build_info", "What the program was built from.", labels=tuple(_BUILD), stability=Stability.BETA
    )
    build.of(*(info[name] for name in _BUILD.values())).set(1)
    emulated = metric_families.gauge(
        "version_info", "Versions of the program.", labels=("binary", "component", "emulation", "min_compat")
    )
    binary = f"{info['major']}.{info['minor']}"
    emulation = f"{info['emulationMajor']}.{info['emulationMinor']}"
    compatible = f"{info['minCompatibilityMajor']}.{info['minCompatibilityMinor']}"
    emulated.of(binary, "kube", emulation, compatible).set(1)
    return build, emulated


def features(of_server: Gates) -> Iterable[AnyFamily]:
    """The feature gates, and whether each is enabled."""
    enabled = metric_families.gauge(
        "kubernetes_feature_enabled",
        "Whether a feature gate is open.",
        labels=("name", "stage"),
        stability=Stability.BETA,
    )
    for gate in of_server.all():
        enabled.of(gate.name, gate.stage).set(gate.is_open)
    return (enabled,)
