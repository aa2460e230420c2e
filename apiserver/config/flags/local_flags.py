"""local_flags: Flags of this server alone: its data, its controllers, the simulated cluster and the test bench."""

import os
from pathlib import Path
from typing import Any

from aio_apiserver.apiserver.config.flags.flag_fields import (
    LOCAL,
    FlagGroup,
    flag,
)
from aio_apiserver.apiserver.config.flags.setting_types import (
    Count,
    Port,
    Positive,
    Strings,
    Workers,
)
from aio_apiserver.controllers import names as controller_names
from aio_apiserver.registry.base import minors

VERSION_VARIABLE = "APISERVER_KUBERNETES_VERSION"
"""The environment variable that --kubernetes-version falls back to."""


def _syncs(of: str, default: int) -> Any:
    """How many keys of a controller are looked at side by side."""
    about = f"The number of {of} that are allowed to sync concurrently; only of --controllers."
    return flag(LOCAL, default, about)


def _data_home() -> Path:
    """The directory for the data of a user's programs."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "aio-apiserver"


def _minor() -> str:
    """The minor for a server that is not told one."""
    return os.environ.get(VERSION_VARIABLE, "")


class LocalFlags(FlagGroup):
    """The group Local of --help."""

    kubernetes_version: str = flag(
        LOCAL,
        _minor,
        f"The minor of Kubernetes that the server is: {', '.join(minors.KNOWN)}. APIs, fields, defaults, validation, "
        "warnings, columns, admission plugins, feature gates, bootstrap objects and /version are those of a "
        "kube-apiserver of that minor.",
        shown=f"${VERSION_VARIABLE}, or {minors.Minor().text}",
    )

    data_dir: Path = flag(
        LOCAL,
        _data_home,
        "The directory of the embedded store, the certificates and the kubeconfig file.",
        shown="$XDG_DATA_HOME/aio-apiserver",
    )
    insecure_port: Port = flag(
        LOCAL,
        0,
        "A port on 127.0.0.1 that serves plain HTTP without authentication or authorization, for curl. 0 is off.",
    )
    workers: Workers = flag(
        LOCAL,
        1,
        "The number of processes that serve the port together, or 'auto' for one for each usable CPU core. Flags hold "
        "for the server as a whole: --max-requests-inflight, --max-mutating-requests-inflight and --max-connections... "
        "are divided.",
    )
    max_connections: Count = flag(
        LOCAL,
        20_000,
        "The maximum number of connections of the secure port, within the limit of open files; further ones are "
        "closed. 0 is the limit of open files.",
    )
    max_connections_per_address: Count = flag(
        LOCAL,
        10_000,
        "The maximum number of connections of one client address; further ones are closed. 0 is no limit.",
    )
    max_connections_per_user: Count = flag(
        LOCAL,
        10_000,
        "The maximum number of connections of one user, unless in system:masters; requests on further ones get 429. "
        "0 is no limit.",
    )
    controllers: Strings = flag(
        LOCAL,
        (),
        "The controllers to run in this process, as kube-controller-manager names them: '*' is all, 'foo' is the "
        f"controller foo, '-foo' all but foo. All controllers: {', '.join(controller_names.ALL)}.",
    )
    kube_api_qps: float = flag(
        LOCAL,
        20.0,
        "Requests per second that each of --controllers may make; negative is no limit. As in kube-controller-manager, "
        "the garbage collector has twice as many, the namespace controller twenty times.",
    )
    kube_api_burst: Positive = flag(
        LOCAL, 30, "Requests that each of --controllers may make at once before --kube-api-qps counts."
    )
    concurrent_cron_job_syncs: Positive = _syncs("cron jobs", 5)
    concurrent_daemonset_syncs: Positive = _syncs("daemon sets", 2)
    concurrent_deployment_syncs: Positive = _syncs("deployments", 5)
    concurrent_endpoint_syncs: Positive = _syncs("services' endpoints", 5)
    concurrent_gc_syncs: Positive = _syncs("objects of the garbage collector", 20)
    concurrent_job_syncs: Positive = _syncs("jobs", 5)
    concurrent_namespace_syncs: Positive = _syncs("namespaces", 10)
    concurrent_rc_syncs: Positive = _syncs("replication controllers", 5)
    concurrent_replicaset_syncs: Positive = _syncs("replica sets", 5)
    concurrent_resource_quota_syncs: Positive = _syncs("resource quotas", 5)
    concurrent_service_endpoint_syncs: Positive = _syncs("services' endpoint slices", 5)
    concurrent_statefulset_syncs: Positive = _syncs("stateful sets", 5)
    concurrent_ttl_after_finished_syncs: Positive = _syncs("finished jobs", 5)
    testing: bool = flag(
        LOCAL,
        False,
        "Serve /testing/: faults on the wire, snapshots of a store in memory, a record of requests. For tests alone.",
    )
    testing_faults: Path | None = flag(
        LOCAL, None, "A file with the rules of faults that hold from the start. Only with --testing."
    )
    ready_file: Path | None = flag(
        LOCAL, None, "A file to write when the server is ready, and to remove when it stops."
    )
    simulate: bool = flag(
        LOCAL,
        False,
        "Whether to simulate nodes, a scheduler and the lives of pods. Annotations of a pod say how it fares: "
        "simulate.aio-apiserver/phase is Running, Succeeded, Failed, CrashLoopBackOff, ImagePullBackOff, NotReady or "
        "Pending; simulate.aio-apiserver/delay, run and stop are how long it takes to start, to end and to stop; "
        "simulate.aio-apiserver/exit-code is that of containers that fail.",
    )
    simulate_nodes: Count = flag(LOCAL, 1, "How many nodes --simulate has.")
    simulate_local_processes: bool = flag(
        LOCAL,
        False,
        "Run the commands of simulated containers, and those of `kubectl exec`, as processes of this machine, with the "
        "rights of the server. Containers without a command stay simulated. `kubectl attach` starts the command of a "
        "container that has `stdin: true`. Ports of pods are forwarded to ports of this machine's loopback. A user who "
        "may create pods, or exec in one, may then do what the server's user may do. Needs --simulate and a "
        "--bind-address on loopback.",
    )
    ui: bool = flag(
        LOCAL,
        False,
        "Serve the web console at /ui on the secure port. --simulate serves it, too. Users sign in with their own "
        "credentials.",
    )
    write_kubeconfig: Path | None = flag(
        LOCAL,
        None,
        "Where to write a kubeconfig file with an administrator's credentials (mode 0600).",
        shown="<data-dir>/admin.kubeconfig",
    )
