from aio_apiserver.apiserver.wire.connection_limits import ConnectionLimits


def test_connections_above_the_limit_of_an_address_are_refused_until_one_leaves() -> None:
    limits = ConnectionLimits(per_address=2)
    admitted = [limits.admit(address) for address in ("a", "a", "a", "b")]

    limits.leave("a", "")

    assert admitted == [True, True, False, True]
    assert limits.admit("a")
    assert limits.statistics() == {"open": 3, "refused_total": 0, "refused_address": 1, "refused_user": 0}


def test_connections_above_the_limit_of_the_server_are_refused() -> None:
    limits = ConnectionLimits(total=1)

    assert [limits.admit(address) for address in ("a", "b")] == [True, False]


def test_a_connection_counts_for_the_user_of_its_present_request() -> None:
    limits = ConnectionLimits(per_user=1)
    for _ in range(2):
        limits.admit("a")

    assert limits.change_user("", "jane")
    assert not limits.change_user("", "jane")
    assert limits.change_user("jane", "joe")
    assert limits.change_user("", "jane")


def test_a_limit_of_zero_is_none() -> None:
    limits = ConnectionLimits()

    assert all(limits.admit("a") and limits.change_user("", "jane") for _ in range(100))
