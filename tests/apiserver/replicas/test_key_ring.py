import pytest

from aio_apiserver.apiserver.replicas.key_ring import GRACE_SECONDS, InvalidKeyRing, KeyRing


def test_the_only_secret_is_used_at_once() -> None:
    assert KeyRing.of("a", 1000.0).used(1000.0) == "a"


def test_a_new_secret_is_accepted_at_once_and_used_after_the_grace() -> None:
    ring = KeyRing.of("a", 0.0).rotated("b", 1000.0)

    assert ring.secrets == ["b", "a"]
    assert [ring.used(1000.0), ring.used(1000.0 + GRACE_SECONDS)] == ["a", "b"]


def test_two_rotations_in_a_row_go_on_with_what_all_replicas_know() -> None:
    ring = KeyRing.of("a", 0.0).rotated("b", 1000.0).rotated("c", 1000.0 + GRACE_SECONDS)

    assert ring.used(1000.0 + GRACE_SECONDS) == "b"


def test_a_finished_rotation_has_the_newest_secret_alone() -> None:
    assert KeyRing.of("a", 0.0).rotated("b", 1000.0).finished().secrets == ["b"]


def test_a_ring_is_stored_and_read_again() -> None:
    ring = KeyRing.of("a", 0.0).rotated("b", 1000.0)

    assert KeyRing.parse(ring.dump()) == ring


@pytest.mark.parametrize("data", [b"", b"{}", b'{"versions":[]}', b'{"versions":[{"made":"x"}]}'])
def test_what_is_no_ring_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidKeyRing):
        KeyRing.parse(data)
