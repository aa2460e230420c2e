"""Core: the kinds of the core group, such as pods, services, config maps, nodes and persistent volumes.

Each kind has a file with the name of its plural. `_columns` in a name means table columns.

    pods_*.py                   subresources of pods; pod_*.py: parts that pods and pod templates share
    pods_validation/            field errors of pods and pod templates; pod_warnings/: their warnings
    workload_rules.py           the rules of kinds with a pod template: selectors and templates
    service_*.py                parts of services; allocation/: their cluster IPs and node ports
    connections.py              subresources that connect: proxies.py, pods_log.py, pods_streams.py
    kubelets.py, unicast.py     the addresses of kubelets; the addresses that proxies may use
    volume_*.py                 parts that persistent volumes and claims share
    parts/                      rules for parts of objects, which know no kind

Must hold: core imports no other group.
"""
