"""own_rotation: replaces a key of a data directory, in two steps, while no server uses the directory.

The files are those of a replica during a rotation, so that the server follows at its next start. The key ring of a
rotation is a file beside them until the rotation is finished.
"""

from pathlib import Path

from aio_apiserver.apiserver.replicas.key_ring import GRACE_SECONDS, KeyRing
from aio_apiserver.apiserver.replicas.shared_keys import SharedKey
from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.base import private_files
from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.transfer import opening

_CA = "ca"


def rotate(key: SharedKey, data_dir: Path, pki_dir: Path, clock: Clock, *, finish: bool) -> None:
    """Put a new key in place, or drop the old ones. Raises DataDirLocked, InvalidOptions, InvalidKeyRing, OSError."""
    opening.check_unused_directory(data_dir)
    if not certificates.has_ca(pki_dir):
        raise InvalidOptions(f"{pki_dir} has no keys: name the --data-dir of a server")
    place = pki_dir / f".{key.name}.rotating"
    ring = KeyRing.parse(place.read_bytes()) if place.exists() else KeyRing.of(key.own(), 0.0)
    now = clock.now()
    used_at = now + GRACE_SECONDS  # the next server uses the newest key at once
    if not finish:
        ring = ring.rotated(key.new(), now)
        private_files.put(place, ring.dump())
        key.put(ring, used_at)
        return
    if not ring.is_rotating:
        raise InvalidOptions("there is no old key to drop")
    if key.name == _CA:
        certificates.drop_serving(pki_dir)  # the old CA has signed it; the server makes another one
    key.put(ring.finished(), used_at)
    place.unlink()
