"""Rotation: `apiserver rotate`, which replaces a key of all replicas, or of a data directory, in two steps.

    apiserver rotate service-account-key --etcd-servers=...            a new key; the old one is still accepted
    apiserver rotate service-account-key --etcd-servers=... --finish   the old one is dropped

It takes the flags of the server, of which it uses those for etcd and encryption. With them it changes etcd alone: the
replicas follow by themselves. Otherwise it changes the files of the data directory, whose server must not run.

Must hold: a rotation is finished only when every running replica uses the new key.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from aio_apiserver.apiserver.config import command_line, flag_grammar, manuals, storage_config
from aio_apiserver.apiserver.config.flag_grammar import Flag, UsageError
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.apiserver.config.flags.unused_flags import UNUSED
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.replicas import own_rotation
from aio_apiserver.apiserver.replicas.key_ring import GRACE_SECONDS, LOOK_SECONDS, InvalidKeyRing, KeyRing
from aio_apiserver.apiserver.replicas.shared_keys import SharedKey, shared_keys
from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.factory.factory import StorageFactory

NAMES = ("service-account-key", "ca", "admin-token")
_FINISH = Flag("finish", FlagType.BOOL, "Local", "Drop the old keys of a rotation.")
MANUAL = CommandManual(
    about="Replaces a key that all servers on one etcd share, or that of a data directory, whose server must not run. "
    "Without --finish a new key is made; old ones are still accepted. With --finish the old ones are dropped.",
    usage=(f"rotate {{{'|'.join(NAMES)}}} [--finish] [--data-dir=... | --etcd-servers=...]",),
    flags=(_FINISH,),
    examples=(
        CommandExample("rotate service-account-key --etcd-servers=http://127.0.0.1:2379", "make a new key"),
        CommandExample("rotate service-account-key --etcd-servers=http://127.0.0.1:2379 --finish", "drop the old one"),
        CommandExample("rotate ca --data-dir=data", "a new CA for an embedded store"),
    ),
)
_MADE: Mapping[str, str] = {
    "service-account-key": f"All replicas verify with it within {LOOK_SECONDS:g}s, and sign with it after "
    f"{GRACE_SECONDS:g}s. Finish when the tokens of the old key have ended.",
    "ca": f"All replicas trust it within {LOOK_SECONDS:g}s, and sign client certificates with it after "
    f"{GRACE_SECONDS:g}s. Hand out the new ca.crt and kubeconfig, then finish: serving certificates follow.",
    "admin-token": f"All replicas accept it within {LOOK_SECONDS:g}s, and admin.token has it after "
    f"{GRACE_SECONDS:g}s. Finish when all clients have it.",
}
_MADE_OWN: Mapping[str, str] = {
    "service-account-key": "From its next start the server signs with it, and accepts the tokens of the old one. "
    "Finish when these have ended.",
    "ca": "From its next start the server trusts both, and signs client certificates with the new one. Hand out "
    "ca.crt and the kubeconfig again, then finish.",
    "admin-token": "From its next start the server accepts both, and admin.token has the new one. Finish when all "
    "clients have it.",
}
"""For a data directory."""


class RotationRefused(Exception):
    """A rotation that is not possible now; the message says why."""


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments ask for. Returns the exit code. Raises UsageError."""
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(manuals.help_text(MANUAL))
        return 0
    parsed = flag_grammar.parse(arguments, [*command_line.flags(), _FINISH], UNUSED, takes_words=True)
    if len(parsed.words) != 1 or (name := parsed.words[0]) not in NAMES:
        raise UsageError(f"rotate needs one of {', '.join(NAMES)}, got {' '.join(parsed.words)!r}")
    finish = parsed.values.pop(_FINISH.name, "false") != "false"
    settings = command_line.settings_of(parsed)
    if settings.backend == "memory":
        raise UsageError("rotate needs --etcd-servers or --data-dir: a store in memory keeps no keys")
    try:
        message = asyncio.run(rotate(settings, name, SystemClock(), finish=finish))
    except (RotationRefused, StorageError, InvalidKeyRing, OSError, ValueError) as exc:
        sys.stderr.write(f"Error: {exc}\n")
        return 1
    sys.stdout.write(f"{message}\n")
    return 0


async def rotate(settings: Settings, name: str, clock: Clock, *, finish: bool) -> str:
    """Change the shared value. Returns what the operator should know.

    Raises RotationRefused, StorageError, InvalidKeyRing.
    """
    key = next((key for key in shared_keys(settings, clock) if key.name == name), None)
    if key is None:
        raise RotationRefused(f"the {name} is in files that flags name: replace these files")
    if not settings.etcd_servers:
        await asyncio.to_thread(own_rotation.rotate, key, settings.data_dir, settings.pki_dir, clock, finish=finish)
        return _message(key, _MADE_OWN, finish=finish)
    change: Callable[[KeyRing], KeyRing] = (
        partial(_finished, now=clock.now()) if finish else partial(_with_new, await asyncio.to_thread(key.new), clock)
    )
    config = replace(storage_config.config_of(settings), compaction_interval=0.0, size_interval=0.0)
    async with StorageFactory(config, clock=clock) as storage:
        assert storage.shared_secrets is not None
        await storage.shared_secrets.update(name, partial(_changed, key, change))
    return _message(key, _MADE, finish=finish)


def _message(key: SharedKey, made: Mapping[str, str], *, finish: bool) -> str:
    return f"The old {key.title} is dropped." if finish else f"There is a new {key.title}. {made[key.name]}"


async def _changed(key: SharedKey, change: Callable[[KeyRing], KeyRing], present: bytes | None) -> bytes:
    """Raises RotationRefused, InvalidKeyRing."""
    if present is None:
        raise RotationRefused(f"no server has shared a {key.title} on this etcd yet; is --etcd-prefix the servers'?")
    return change(KeyRing.parse(present)).dump()


def _with_new(secret: str, clock: Clock, ring: KeyRing) -> KeyRing:
    return ring.rotated(secret, clock.now())


def _finished(ring: KeyRing, now: float) -> KeyRing:
    """Raises RotationRefused."""
    if not ring.is_rotating:
        raise RotationRefused("there is no old key to drop")
    wait = ring.newest.made + GRACE_SECONDS + LOOK_SECONDS - now
    if wait > 0:
        raise RotationRefused(f"not all replicas use the new key yet; try again in {wait:.0f}s")
    return ring.finished()
