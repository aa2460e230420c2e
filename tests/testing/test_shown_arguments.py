"""The arguments that `help()` shows."""

import pydoc
from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.bench.fault_kinds import FaultFields
from aio_apiserver.testing.bench.request_record import RequestFields, RequestRecord
from aio_apiserver.testing.server_settings import ServerSettings
from aio_apiserver.testing.webhooks import MutatingWebhookFields, WebhookFields, Webhooks


@pytest.mark.parametrize(
    ("function", "fields"),
    [
        (Server, ServerSettings),
        (Server.fault, FaultFields),
        (Server.inject, FaultFields),
        (RequestRecord.assert_none, RequestFields),
        (RequestRecord.assert_made, RequestFields),
        (RequestRecord.wait_for, RequestFields),
        (RequestRecord.matching, RequestFields),
        (RequestRecord.recorded, RequestFields),
        (Webhooks.validating, WebhookFields),
        (Webhooks.mutating, MutatingWebhookFields),
    ],
)
def test_help_shows_every_argument(function: Any, fields: Any) -> None:
    shown = pydoc.plain(pydoc.render_doc(function))

    assert [name for name in fields.__annotations__ if f"{name}: " not in shown] == []
    assert "**" not in shown.partition("\n\n")[2].partition(")")[0]
