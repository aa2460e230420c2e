from aio_apiserver.simulation.model import node_objects


def test_pods_get_unused_addresses() -> None:
    node = node_objects.make(1)

    assert node_objects.free_address(node, {"10.128.4.2"}, 0) == "10.128.4.3"
    assert node_objects.free_address(node, set(), 1021) == "10.128.4.2"


def test_each_node_has_a_network_of_its_own() -> None:
    assert len({node_objects.make(number)["spec"]["podCIDR"] for number in range(300)}) == 300


def test_a_node_that_works_loses_the_taint_of_new_ones() -> None:
    node = node_objects.make(0)
    node["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    node["status"] = node_objects.report({}, 0, "v1", 10250, now="2026-01-01T00:00:00Z", is_ready=True)

    assert node_objects.is_ready(node)
    assert node_objects.remove_not_ready_taint(node)
    assert "taints" not in node["spec"]
    assert not node_objects.remove_not_ready_taint(node)
