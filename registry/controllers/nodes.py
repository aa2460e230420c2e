"""What a node that is not there looks like. Pure."""

from storage.stored_object import Object

MARK = "simulate.aio-apiserver/node"
"""The annotation of nodes whose pods are simulated."""
_AMOUNTS = {"cpu": "32", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "1000"}
_NOT_READY = "node.kubernetes.io/not-ready"
_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def name_of(number: int) -> str:
    return f"node-{number}"


def make(number: int) -> Object:
    """A new node."""
    name = name_of(number)
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    cidr = f"10.{244 + number // 256}.{number % 256}.0/24"
    return {
        "metadata": {"name": name, "labels": labels, "annotations": {MARK: "true"}},
        "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
    }


def is_simulated(node: Object) -> bool:
    return (node["metadata"].get("annotations") or {}).get(MARK) == "true"


def address(node: Object) -> str:
    """The node's address; empty before it has one."""
    addresses = (node.get("status") or {}).get("addresses") or ()
    return next((str(one["address"]) for one in addresses if one["type"] == "InternalIP"), "")


def pod_address(node: Object, number: int) -> str:
    """The address of so many-th pod of a node; after 250 they come again."""
    network = str(node["spec"].get("podCIDR") or "10.244.0.0/24").rpartition(".")[0]
    return f"{network}.{2 + number % 250}"


def is_ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def status(number: int, version: str, *, now: str) -> Object:
    """The status of a node that works."""
    return {
        "capacity": dict(_AMOUNTS),
        "allocatable": dict(_AMOUNTS),
        "conditions": [
            {
                "type": kind,
                "status": value,
                "reason": reason,
                "message": message,
                "lastHeartbeatTime": now,
                "lastTransitionTime": now,
            }
            for kind, value, reason, message in _CONDITIONS
        ],
        "addresses": [
            {"type": "InternalIP", "address": f"10.128.{number // 250}.{1 + number % 250}"},
            {"type": "Hostname", "address": name_of(number)},
        ],
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "simulated://1",
            "kernelVersion": "",
            "kubeProxyVersion": "",
            "kubeletVersion": version,
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "simulated",
            "systemUUID": "",
        },
    }


def welcome(node: Object) -> bool:
    """Take off the taint of nodes that are not ready; whether it was there."""
    taints = node["spec"].get("taints") or []
    kept = [one for one in taints if one["key"] != _NOT_READY]
    if kept:
        node["spec"]["taints"] = kept
    else:
        node["spec"].pop("taints", None)
    return len(kept) < len(taints)
