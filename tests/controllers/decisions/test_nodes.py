from aio_apiserver.controllers.decisions import nodes


def test_pods_get_unused_addresses() -> None:
    node = nodes.make(1)

    assert nodes.free_address(node, {"10.128.4.2"}, 0) == "10.128.4.3"
    assert nodes.free_address(node, set(), 1021) == "10.128.4.2"


def test_each_node_has_a_network_of_its_own() -> None:
    assert len({nodes.make(number)["spec"]["podCIDR"] for number in range(300)}) == 300


def test_a_node_that_works_loses_the_taint_of_new_ones() -> None:
    node = nodes.make(0)
    node["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    node["status"] = nodes.report({}, 0, "v1", 10250, now="2026-01-01T00:00:00Z", is_ready=True)

    assert nodes.is_ready(node)
    assert nodes.remove_not_ready_taint(node)
    assert "taints" not in node["spec"]
    assert not nodes.remove_not_ready_taint(node)
