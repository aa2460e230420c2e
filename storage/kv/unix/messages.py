"""Messages: what a worker and the owner of the store say to each other, as msgpack arrays.

A worker sends Calls. The owner sends a Welcome first. Then it sends an Answer or a CallRefused for each call, and
Published for each batch of committed events. Both ends are of one release, so that messages have no versions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct
from msgspec.msgpack import Decoder, Encoder

from aio_apiserver.storage.health import Health
from aio_apiserver.storage.kv.interface import Event, GetResult, RangeResult, WriteResult
from aio_apiserver.storage.kv.replay import Replayed


class Call(Struct, frozen=True, array_like=True):
    """A call of the kv contract, or of `replay`, with the names and values of its arguments."""

    number: int
    method: str
    arguments: Mapping[str, Any]


class Welcome(Struct, frozen=True, array_like=True, tag=0):
    """The first message of the owner: events after this revision follow."""

    revision: int


class Published(Struct, frozen=True, array_like=True, tag=1):
    """Committed events in order. All up to `revision` have been sent."""

    events: Sequence[Event]
    revision: int


class Answer(Struct, frozen=True, array_like=True, tag=2):
    """The result of a call, as the method of that call encodes it."""

    number: int
    result: Raw


class CallRefused(Struct, frozen=True, array_like=True, tag=3):
    """The error of a call: the name of its class, and the arguments that make it again."""

    number: int
    error: str
    details: Sequence[str | int]


FromOwner = Welcome | Published | Answer | CallRefused

encode = Encoder().encode
decode_call = Decoder(Call).decode
decode_from_owner = Decoder(FromOwner).decode

RESULTS: Mapping[str, Decoder[Any]] = {
    "get": Decoder(GetResult),
    "range": Decoder(RangeResult),
    "put": Decoder(WriteResult),
    "delete": Decoder(WriteResult),
    "grant_lease": Decoder(int),
    "revoke_lease": Decoder(None),
    "compact": Decoder(None),
    "health": Decoder(Health),
    "replay": Decoder(Replayed),
}
"""The methods that a worker may call, with the types of their results."""
