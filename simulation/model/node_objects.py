"""Node objects: the simulated nodes of --simulate.

Pure.
"""

from collections.abc import Container
from ipaddress import ip_address, ip_network

from aio_apiserver.base.unstructured import Object

_POD_NETWORK = ip_address("10.128.0.0")
_ADDRESSES = 1024
"""The number of pod addresses of each node."""
_NODE_NETWORK = ip_address("172.16.0.1")
_LOOPBACK = "127.0.0.1"
"""The address at which kube-apiserver looks for a kubelet first, since no name of a simulated node resolves."""
MARK = "simulate.aio-apiserver/node"
"""The annotation of simulated nodes."""
_AMOUNTS = {"cpu": "32", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "1000"}
_NOT_READY = "node.kubernetes.io/not-ready"
_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
_INFO = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "simulated://1",
    "kernelVersion": "",
    "kubeProxyVersion": "",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "simulated",
    "systemUUID": "",
}
_NOT_READY_CONDITION = ("Ready", "False", "KubeletNotReady", "container runtime is down: the phase of the node says so")


def name_of(number: int) -> str:
    return f"node-{number}"


def make(number: int) -> Object:
    """A new node."""
    name = name_of(number)
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    cidr = f"{_POD_NETWORK + number * _ADDRESSES}/22"
    return {
        "metadata": {"name": name, "labels": labels, "annotations": {MARK: "true"}},
        "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
    }


def is_simulated(node: Object) -> bool:
    return (node["metadata"].get("annotations") or {}).get(MARK) == "true"


def address(node: Object) -> str:
    """The internal address of a node; empty before it has one."""
    addresses = (node.get("status") or {}).get("addresses") or ()
    return next((str(one["address"]) for one in addresses if one["type"] == "InternalIP"), "")


def free_address(node: Object, taken: Container[str], start: int) -> str:
    """A pod address: the first free one from `start` on; the last one tried when none is free."""
    network = ip_network(node["spec"].get("podCIDR") or f"{_POD_NETWORK}/22")
    address = ""
    for number in range(start, start + network.num_addresses):
        address = str(network[2 + number % (network.num_addresses - 3)])
        if address not in taken:
            break
    return address


def is_ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def kubelet_port(node: Object) -> int:
    """The port of a node's kubelet; 0 without one."""
    endpoint = ((node.get("status") or {}).get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    return int(endpoint.get("Port") or 0)


def report(present: Object, number: int, version: str, kubelet_port: int, *, now: str, is_ready: bool) -> Object:
    """The status of a node as its kubelet reports it. Capacity and addresses stay as they are given.

    All kubelets are at one port of this machine.
    """
    own = _NOT_READY_CONDITION if not is_ready else _CONDITIONS[-1]
    before = {one["type"]: one for one in present.get("conditions") or ()}
    reported = {one[0]: _condition(one, before.get(one[0], {}), now) for one in (*_CONDITIONS[:-1], own)}
    capacity = present.get("capacity") or dict(_AMOUNTS)
    return {
        **present,
        "capacity": capacity,
        "allocatable": present.get("allocatable") or dict(capacity),
        "conditions": list({**before, **reported}.values()),
        "addresses": present.get("addresses")
        or [
            {"type": "InternalIP", "address": str(_NODE_NETWORK + number)},
            {"type": "Hostname", "address": _LOOPBACK},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
        "nodeInfo": {**_INFO, "kubeletVersion": version},
    }


def _condition(facts: tuple[str, str, str, str], before: Object, now: str) -> Object:
    kind, value, reason, message = facts
    since = before["lastTransitionTime"] if before.get("status") == value else now
    times = {"lastHeartbeatTime": now, "lastTransitionTime": since}
    return {"type": kind, "status": value, "reason": reason, "message": message, **times}


def is_tainted(node: Object) -> bool:
    """Whether a node has the taint for nodes that are not ready."""
    return any(one["key"] == _NOT_READY for one in node["spec"].get("taints") or ())


def remove_not_ready_taint(node: Object) -> bool:
    """Remove the taint for nodes that are not ready. Returns whether it was there."""
    taints = node["spec"].get("taints") or []
    kept = [one for one in taints if one["key"] != _NOT_READY]
    if kept:
        node["spec"]["taints"] = kept
    else:
        node["spec"].pop("taints", None)
    return len(kept) < len(taints)
