"""Budgets: parts of requests that the server does not read, for any client.

CVE-2019-11248, CVE-2019-11254: requests of anonymous clients cost little.
"""

from pathlib import Path

import pytest

from aio_apiserver.apiserver.wire import request_info, urls
from aio_apiserver.registry.machinery.selectors import budgets
from tests.apiserver.serving import Answer, as_admin, ask, running, trusting

TOO_LONG = "metadata.name=x," * (budgets.LONGEST // 16) + "a=b"
TOO_MANY = ",".join(f"metadata.name!=n{number}" for number in range(budgets.MOST_REQUIREMENTS + 1))
TOO_MANY_LABELS = ",".join(f"!l{number}" for number in range(budgets.MOST_REQUIREMENTS + 1))


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (f"fieldSelector={TOO_LONG}", "invalid selector: it has 32771 characters, and 32768 are allowed"),
        (f"labelSelector=a%20in%20(b,{TOO_LONG})", "and 32768 are allowed"),
        (f"fieldSelector={TOO_MANY}", "invalid selector: it has more than 256 requirements"),
        (f"labelSelector={TOO_MANY_LABELS}", "invalid selector: it has more than 256 requirements"),
        ("a&" * urls.MOST_PARAMETERS, "number of URL query parameters exceeded limit of 10000"),
    ],
    ids=["long fields", "long labels", "many fields", "many labels", "many parameters"],
)
async def test_a_selector_or_query_over_its_budget_is_a_bad_request(tmp_path: Path, query: str, says: str) -> None:
    """CVE-2025-61726 is the class of the last request."""
    async with running(tmp_path) as server:
        answers = [
            await ask(server.secure.port, f"/api/v1/configmaps?{watch}{query}", tls=as_admin(server))
            for watch in ("", "watch=1&")
        ]

    assert [(one.status, one.json["kind"], one.json["reason"]) for one in answers] == [
        (400, "Status", "BadRequest")
    ] * 2
    assert all(says in one.json["message"] for one in answers)


async def test_an_anonymous_client_is_refused_before_its_selector_is_read(tmp_path: Path) -> None:
    async def anonymously(query: str) -> Answer:
        return await ask(server.secure.port, f"/api/v1/configmaps?{query}", tls=trusting(server))

    async with running(tmp_path) as server:
        answers = [await anonymously(f"fieldSelector={text}") for text in (TOO_LONG, TOO_MANY, "metadata.name=x")]

    assert [one.status for one in answers] == [403] * 3


@pytest.mark.parametrize("text", [TOO_LONG, TOO_MANY.replace("!", "")])
def test_a_selector_over_its_budget_names_no_object(text: str) -> None:
    info = request_info.resolve("GET", "/api/v1/configmaps", {"fieldSelector": [text]})

    assert (info.verb, info.name) == ("list", "")


async def test_selectors_within_their_budgets_are_read(tmp_path: Path) -> None:
    fields = ",".join(f"metadata.name!=n{number}" for number in range(budgets.MOST_REQUIREMENTS))
    values = ",".join(f"value-{number}" for number in range(2000))

    async with running(tmp_path) as server:
        target = f"/api/v1/configmaps?fieldSelector={fields}&labelSelector=a%20notin%20({values})"
        answer = await ask(server.secure.port, target, tls=as_admin(server))

    assert answer.status == 200
    assert answer.json["kind"] == "ConfigMapList"
