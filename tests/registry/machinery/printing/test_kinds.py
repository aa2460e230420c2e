"""The cells of the kinds whose cells are more than the value at a path."""

from typing import Any

import pytest

from aio_apiserver.base.unstructured import Object
from tests.registry.machinery.printing.rows import CREATED, cells_of


def condition(kind: str, status: str = "True", reason: str = "") -> Object:
    return {"type": kind, "status": status, "reason": reason}


def job(*conditions: Object, **spec: Any) -> Object:
    return {"spec": spec, "status": {"conditions": conditions, "succeeded": 1, "startTime": CREATED}}


def service(kind: str, ingress: tuple[Object, ...] = (), **spec: Any) -> Object:
    return {"spec": {"type": kind, **spec}, "status": {"loadBalancer": {"ingress": ingress}}}


def rules(*hosts: str) -> Object:
    return {"spec": {"rules": [{"host": host} if host else {} for host in hosts]}}


def metric(kind: str, source: str, target: Object, current: Object | None = None, **names: str) -> Object:
    """An autoscaler with one metric and, perhaps, its current value."""
    found = [] if current is None else [{"type": kind, source: {"current": current}}]
    return {
        "spec": {"metrics": [{"type": kind, source: {**names, "target": target}}]},
        "status": {"currentMetrics": found},
    }


CASES: list[tuple[str, str, Object, str, Any]] = [
    ("", "ConfigMap", {"data": {"a": "1"}, "binaryData": {"b": ""}}, "Data", 2),
    ("", "Secret", {"data": {"a": ""}}, "Data", 1),
    ("", "Node", {"status": {"conditions": [condition("Ready")]}}, "Status", "Ready"),
    ("", "Node", {"status": {"conditions": [condition("Ready", "Unknown")]}}, "Status", "NotReady"),
    ("", "Node", {"spec": {"unschedulable": True}}, "Status", "Unknown,SchedulingDisabled"),
    (
        "",
        "Node",
        {"metadata": {"labels": {"node-role.kubernetes.io/z": "", "kubernetes.io/role": "a"}}},
        "Roles",
        "a,z",
    ),
    (
        "",
        "Node",
        {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}},
        "Internal-IP",
        "10.0.0.1",
    ),
    (
        "",
        "Node",
        {"status": {"nodeInfo": {"kernelVersion": "6.1", "architecture": "amd64"}}},
        "Kernel-Version",
        "6.1 (amd64)",
    ),
    ("", "Service", service("ClusterIP", clusterIPs=["10.0.0.1", "fd00::1"]), "Cluster-IP", "10.0.0.1"),
    ("", "Service", service("ClusterIP", externalIPs=["192.0.2.1"]), "External-IP", "192.0.2.1"),
    ("", "Service", service("LoadBalancer"), "External-IP", "<pending>"),
    (
        "",
        "Service",
        service("LoadBalancer", ({"hostname": "z"}, {"ip": "192.0.2.9"}), externalIPs=["192.0.2.1"]),
        "External-IP",
        "192.0.2.9,z,192.0.2.1",
    ),
    ("", "Service", service("ExternalName", externalName="example.com"), "External-IP", "example.com"),
    (
        "",
        "Service",
        service(
            "NodePort",
            ports=[{"port": 80, "protocol": "TCP", "nodePort": 30080}, {"port": 53, "protocol": "UDP"}],
        ),
        "Port(s)",
        "80:30080/TCP,53/UDP",
    ),
    ("", "Endpoints", {}, "Endpoints", "<none>"),
    (
        "",
        "Endpoints",
        {
            "subsets": [
                {"addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "ports": [{"port": 80}, {"port": 81}]},
                {"addresses": [{"ip": "10.0.0.3"}]},
            ]
        },
        "Endpoints",
        "10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 2 more...",
    ),
    ("discovery.k8s.io", "EndpointSlice", {"ports": [{}, {"name": "p"}, {"port": 1}]}, "Ports", "*,p,1"),
    ("discovery.k8s.io", "EndpointSlice", {"endpoints": []}, "Endpoints", "<unset>"),
    (
        "",
        "Event",
        {"involvedObject": {"kind": "Pod", "name": "p"}, "count": 0},
        "Object",
        "pod/p",
    ),
    ("", "Event", {"firstTimestamp": CREATED}, "Last Seen", "100s"),
    ("", "Event", {"eventTime": CREATED}, "First Seen", "100s"),
    ("", "Event", {"lastTimestamp": CREATED, "series": {"count": 7}}, "Last Seen", "<unknown>"),
    ("", "Event", {"count": 2, "series": {"count": 7}}, "Count", 7),
    ("", "Event", {}, "Count", 1),
    ("events.k8s.io", "Event", {"reportingComponent": "c", "source": {"host": "h"}}, "Source", "c, h"),
    (
        "",
        "ResourceQuota",
        {"status": {"hard": {"pods": "5", "cpu": "1", "limits.cpu": "2"}, "used": {"pods": "1"}}},
        "Request",
        "cpu: 0/1, pods: 1/5",
    ),
    ("", "ResourceQuota", {"status": {"hard": {"limits.cpu": "2"}}}, "Limit", "limits.cpu: 0/2"),
    ("apps", "Deployment", {"spec": {"replicas": 3}, "status": {"readyReplicas": 2}}, "Ready", "2/3"),
    (
        "apps",
        "Deployment",
        {"spec": {"template": {"spec": {"containers": [{"image": "i1"}, {"image": "i2"}]}}}},
        "Images",
        "i1,i2",
    ),
    ("apps", "Deployment", {"spec": {"selector": {"matchLabels": {"b": "2", "a": "1"}}}}, "Selector", "a=1,b=2"),
    ("apps", "ReplicaSet", {}, "Selector", "<none>"),
    ("apps", "DaemonSet", {"spec": {"template": {"spec": {"nodeSelector": {"d": "s"}}}}}, "Node Selector", "d=s"),
    (
        "apps",
        "ControllerRevision",
        {
            "metadata": {
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Pod", "name": "p"},
                    {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True},
                ]
            }
        },
        "Controller",
        "daemonset.apps/d",
    ),
    ("batch", "Job", job(condition("Complete")), "Status", "Complete"),
    ("batch", "Job", job(condition("Failed", "False"), condition("Suspended")), "Status", "Suspended"),
    ("batch", "Job", job(), "Status", "Running"),
    ("batch", "Job", job(completions=4), "Completions", "1/4"),
    ("batch", "Job", job(parallelism=3), "Completions", "1/1 of 3"),
    ("batch", "Job", job(parallelism=1), "Completions", "1/1"),
    ("batch", "Job", job(), "Duration", "100s"),
    ("batch", "Job", {"status": {"startTime": CREATED, "completionTime": CREATED}}, "Duration", "0s"),
    ("batch", "CronJob", {"spec": {"suspend": False}}, "Suspend", "False"),
    ("batch", "CronJob", {"status": {"lastScheduleTime": CREATED}}, "Last Schedule", "100s"),
    ("autoscaling", "Scale", {"spec": {"replicas": 3}}, "Desired", 3),
    ("networking.k8s.io", "Ingress", rules("", "b"), "Hosts", "b"),
    ("networking.k8s.io", "Ingress", rules(), "Hosts", "*"),
    ("networking.k8s.io", "Ingress", rules("a", "b", "c"), "Hosts", "a,b,c"),
    ("networking.k8s.io", "Ingress", rules("a", "", "b", "c", ""), "Hosts", "a,b,c + 2 more..."),
    ("networking.k8s.io", "Ingress", {"spec": {"tls": [{}]}}, "Ports", "80, 443"),
    (
        "networking.k8s.io",
        "IngressClass",
        {
            "metadata": {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
            "spec": {"parameters": {"apiGroup": "g", "kind": "K", "name": "n"}},
        },
        "Parameters",
        "K.g/n",
    ),
    (
        "networking.k8s.io",
        "IPAddress",
        {"spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}},
        "ParentRef",
        "services/n/s",
    ),
    (
        "policy",
        "PodDisruptionBudget",
        {"spec": {"minAvailable": 2}},
        "Min Available",
        "2",
    ),
    (
        "",
        "PersistentVolume",
        {"spec": {"accessModes": ["ReadWriteMany", "ReadWriteOnce"], "claimRef": {"namespace": "n", "name": "c"}}},
        "Access Modes",
        "RWO,RWX",
    ),
    ("", "PersistentVolume", {"spec": {"claimRef": {"namespace": "n", "name": "c"}}}, "Claim", "n/c"),
    ("", "PersistentVolume", {"metadata": {"deletionTimestamp": CREATED}}, "Status", "Terminating"),
    (
        "",
        "PersistentVolume",
        {"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}},
        "StorageClass",
        "old",
    ),
    ("", "PersistentVolumeClaim", {"status": {"capacity": {"storage": "5Gi"}}}, "Capacity", ""),
    (
        "",
        "PersistentVolumeClaim",
        {"spec": {"volumeName": "v"}, "status": {"capacity": {"storage": "5Gi"}}},
        "Capacity",
        "5Gi",
    ),
    (
        "storage.k8s.io",
        "StorageClass",
        {"metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}},
        "Name",
        "a (default)",
    ),
    (
        "storage.k8s.io",
        "CSIDriver",
        {"spec": {"tokenRequests": [{"audience": "x"}, {"audience": ""}]}},
        "TokenRequests",
        "x,",
    ),
    ("storage.k8s.io", "CSIDriver", {}, "AttachRequired", True),
    (
        "rbac.authorization.k8s.io",
        "RoleBinding",
        {"subjects": [{"kind": "ServiceAccount", "namespace": "n", "name": "s"}, {"kind": "User", "name": "u"}]},
        "ServiceAccounts",
        "n/s",
    ),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
        {"status": {"certificate": "eA==", "conditions": [condition("Approved")]}},
        "Condition",
        "Approved,Issued",
    ),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
        {"spec": {"expirationSeconds": 3600}},
        "RequestedDuration",
        "60m",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        metric("Resource", "resource", {"averageUtilization": 50}, name="cpu"),
        "Targets",
        "cpu: <unknown>/50%",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        metric("Resource", "resource", {"averageValue": "1Gi"}, {"averageValue": "5"}, name="memory"),
        "Targets",
        "memory: 5/1Gi",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        metric("ContainerResource", "containerResource", {}, {"averageUtilization": 7}, name="cpu"),
        "Targets",
        "cpu: 7%/<auto>",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        metric("External", "external", {"averageValue": "5"}, {"averageValue": "2"}),
        "Targets",
        "2/5 (avg)",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        metric("Pods", "pods", {"averageValue": "5"}, {"averageValue": "2"}),
        "Targets",
        "2/5",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        metric("Object", "object", {"value": "5"}, {"value": "2"}),
        "Targets",
        "2/5",
    ),
    ("autoscaling", "HorizontalPodAutoscaler", {"spec": {"metrics": [{"type": "X"}]}}, "Targets", "<unknown type>"),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        {"spec": {"paramKind": {"apiVersion": "g/v1", "kind": "K"}}},
        "ParamKind",
        "g/v1/K",
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        {"spec": {"paramRef": {"name": "p"}}},
        "ParamRef",
        "*/p",
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicyBinding",
        {
            "spec": {
                "paramRef": {
                    "selector": {
                        "matchLabels": {"b": "2", "a": "1"},
                        "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}],
                    }
                }
            }
        },
        "ParamRef",
        "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement"
        "{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}",
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        "PriorityLevelConfiguration",
        {"spec": {"limited": {"limitResponse": {"queuing": {"queues": 8}}}}},
        "Queues",
        8,
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        "FlowSchema",
        {"status": {"conditions": [condition("Dangling", "False")]}},
        "MissingPL",
        "False",
    ),
    (
        "resource.k8s.io",
        "ResourceClaim",
        {"metadata": {"deletionTimestamp": CREATED}, "status": {"allocation": {}, "reservedFor": [{}]}},
        "State",
        "deleted,allocated,reserved",
    ),
    (
        "apiregistration.k8s.io",
        "APIService",
        {
            "spec": {"service": {"namespace": "n", "name": "s"}},
            "status": {"conditions": [condition("Available", "False", "Gone")]},
        },
        "Available",
        "False (Gone)",
    ),
]


@pytest.mark.parametrize(("group", "kind", "obj", "column", "cell"), CASES)
def test_a_cell_tells_what_kubectl_prints(group: str, kind: str, obj: Object, column: str, cell: Any) -> None:
    cells = cells_of(group, kind, obj)

    assert cells[column] == cell
