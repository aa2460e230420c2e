from collections import Counter

from aio_apiserver.registry.plugins.flowcontrol import shuffle_sharding


def test_a_hand_has_different_queues_of_the_deck() -> None:
    for flow in range(200):
        hand = shuffle_sharding.hand_of(shuffle_sharding.hash_of("schema", str(flow)), 16, 4)

        assert len(set(hand)) == 4
        assert all(0 <= queue < 16 for queue in hand)


def test_every_hand_is_dealt_equally_often() -> None:
    hands = Counter(tuple(shuffle_sharding.hand_of(value, 6, 2)) for value in range(6 * 5 * 10))

    assert len(hands) == 30
    assert set(hands.values()) == {10}


def test_flows_are_told_apart_by_schema_and_distinguisher() -> None:
    flows = {shuffle_sharding.hash_of("a", "b"), shuffle_sharding.hash_of("ab", ""), shuffle_sharding.hash_of("a", "c")}

    assert len(flows) == 3
