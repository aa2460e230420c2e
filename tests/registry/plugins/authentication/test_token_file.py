import pytest

from aio_apiserver.registry.plugins.authentication import token_file


def test_reads_tokens_users_and_groups() -> None:
    users = token_file.parse('t1,admin,u1,"system:masters"\n\nt2,alice,u2,"devs,ops"\nt3,bob,u3\n', "f")

    assert set(users) == {"t1", "t2", "t3"}
    assert (users["t2"].name, users["t2"].uid) == ("alice", "u2")
    assert users["t2"].groups == ("devs", "ops", "system:authenticated")
    assert users["t3"].groups == ("system:authenticated",)


def test_more_columns_do_no_harm() -> None:
    assert token_file.parse("t,alice,u,devs,x,y\n", "f")["t"].groups == ("devs", "system:authenticated")


def test_the_last_of_two_equal_tokens_counts_and_neither_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    users = token_file.parse("secret,alice,1\n,nobody,2\nsecret,bob,3\n", "f")

    assert users["secret"].name == "bob"
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("secret,alice\n", "token file 'f' must have at least 3 columns (token, user name, user uid), found 2"),
        ('secret,"alice,1\n', "token file 'f': "),
    ],
)
def test_a_file_that_is_none_is_refused_without_telling_tokens(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="token file") as refusal:
        token_file.parse(text, "f")

    assert str(refusal.value).startswith(message)
    assert "secret" not in str(refusal.value)
