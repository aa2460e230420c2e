"""Owners that are named twice."""

from aio_apiserver.registry.base import owner_references


def test_equal_references_count_once_and_the_client_hears_of_it() -> None:
    one = {"kind": "A", "uid": "u1"}
    metadata = {"ownerReferences": [one, {"kind": "B", "uid": "u1"}, dict(one), {"kind": "A", "uid": "u2"}, dict(one)]}
    warnings: list[str] = []

    owner_references.drop_duplicates(metadata, warnings.append, is_after_admission=False)

    assert metadata["ownerReferences"] == [one, {"kind": "B", "uid": "u1"}, {"kind": "A", "uid": "u2"}]
    assert len(warnings) == 1
    assert warnings[0].startswith(".metadata.ownerReferences contains duplicate entries; API server dedups")
    assert warnings[0].endswith("duplicate UID(s) observed: u1, u1")


def test_different_references_stay() -> None:
    metadata = {"ownerReferences": [{"uid": "u1"}, {"uid": "u1", "controller": True}]}
    warnings: list[str] = []

    owner_references.drop_duplicates(metadata, warnings.append, is_after_admission=True)

    assert (len(metadata["ownerReferences"]), warnings) == (2, [])
