from typing import Any

from apiserver import client_certificates


def certificate(*attributes: tuple[str, str]) -> dict[str, Any]:
    return {"subject": tuple(((name, value),) for name, value in attributes)}


def test_the_common_name_is_the_user_and_organizations_are_groups() -> None:
    user = client_certificates.user_of(
        certificate(("organizationName", "a"), ("organizationName", "b"), ("commonName", "alice")), b"x"
    )

    assert user is not None
    assert (user.name, user.groups) == ("alice", ("a", "b", "system:authenticated"))


def test_the_credential_is_known_by_its_fingerprint() -> None:
    user = client_certificates.user_of(certificate(("commonName", "alice")), b"")

    assert user is not None
    assert user.extra == {
        "authentication.kubernetes.io/credential-id": (
            "X509SHA256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        )
    }


def test_a_certificate_may_carry_a_uid() -> None:
    user = client_certificates.user_of(certificate(("commonName", "alice"), ("1.3.6.1.4.1.57683.2", "u-1")), b"")

    assert user is not None
    assert user.uid == "u-1"


def test_a_certificate_without_a_name_is_nobodys() -> None:
    assert client_certificates.user_of(certificate(("organizationName", "a"), ("commonName", "")), b"") is None
