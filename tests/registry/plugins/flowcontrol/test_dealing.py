from collections import Counter

from aio_apiserver.registry.plugins.flowcontrol import dealing


def test_a_hand_has_different_queues_of_the_deck() -> None:
    for flow in range(200):
        hand = dealing.hand_of(dealing.hash_of("schema", str(flow)), 16, 4)

        assert len(set(hand)) == 4
        assert all(0 <= queue < 16 for queue in hand)


def test_every_hand_is_dealt_equally_often() -> None:
    hands = Counter(tuple(dealing.hand_of(value, 6, 2)) for value in range(6 * 5 * 10))

    assert len(hands) == 30
    assert set(hands.values()) == {10}


def test_flows_are_told_apart_by_schema_and_distinguisher() -> None:
    flows = {dealing.hash_of("a", "b"), dealing.hash_of("ab", ""), dealing.hash_of("a", "c")}

    assert len(flows) == 3
