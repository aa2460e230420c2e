"""store_diagnoses: what would go wrong with the store of the settings: the data directory and its disk, or the etcds.

It changes nothing. A store that a server uses is looked at beside it.
"""

import os
import shutil
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from aio_apiserver.apiserver.commands.checks.findings import OK, PROBLEM, WARNING, DoctorFinding
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.storage.errors import NoSpace, StorageError
from aio_apiserver.storage.factory.factory import StorageConfig
from aio_apiserver.storage.kv.sqlite.data_dir import DataDir
from aio_apiserver.storage.kv.sqlite.file_reader import FileReader

if TYPE_CHECKING:
    from aio_apiserver.storage.kv.etcd import maintenance
    from aio_apiserver.storage.kv.etcd.maintenance import MemberStatus
else:
    maintenance = Deferred("aio_apiserver.storage.kv.etcd.maintenance")

_MIB = 1 << 20
_FULL, _LOW = 100 * _MIB, 1024 * _MIB
"""Free bytes of a disk that is full, and of one that soon will be."""
_FEW_INODES = 1000
_NETWORK = frozenset({"9p", "afs", "ceph", "cifs", "fuse", "glusterfs", "nfs", "nfs4", "smb3", "smbfs", "virtiofs"})
_PASSING = frozenset({"overlay", "ramfs", "tmpfs"})
_MOUNTS = Path("/proc/self/mounts")
_QUOTA = 2048 * _MIB
"""etcd's default for --quota-backend-bytes."""
_SLOW_SECONDS = 0.1


async def diagnoses(store: StorageConfig) -> AsyncIterator[DoctorFinding]:
    """All subjects."""
    if store.etcd is not None:
        members = maintenance.EtcdMembers(store.etcd)
        try:
            for status in await members.statuses():
                for one in _of_member(status):
                    yield one
        finally:
            await members.close()
    elif store.data_dir is not None:
        directory = store.data_dir.absolute()
        for one in _of_directory(directory):
            yield one
        if _has_store(directory):
            yield await _of_database(directory)


def _of_directory(directory: Path) -> Iterator[DoctorFinding]:
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    yield _of_rights(directory, existing)
    yield _of_file_system(existing)
    yield _of_space(existing)
    if _has_store(directory):
        yield _of_lock(directory)


def _has_store(directory: Path) -> bool:
    """Whether there is a store in a directory that this user may look into."""
    return os.access(directory, os.X_OK) and DataDir(directory).database.exists()


def _of_rights(directory: Path, existing: Path) -> DoctorFinding:
    subject = f"--data-dir={directory}"
    if not existing.is_dir():
        return DoctorFinding(PROBLEM, subject, f"{existing} is no directory", "choose another one")
    if os.statvfs(existing).f_flag & os.ST_RDONLY:
        return DoctorFinding(
            PROBLEM, subject, "the file system is read-only", "mount it for writing, or choose another"
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        return DoctorFinding(
            PROBLEM, subject, f"this user may not write to {existing}", "change its owner or choose another"
        )
    if existing == directory and (mode := stat.S_IMODE(directory.stat().st_mode)) & 0o077:
        return DoctorFinding(WARNING, subject, f"others may look into it (mode {mode:o})", f"chmod 700 {directory}")
    return DoctorFinding(OK, subject, "writable" if existing == directory else "will be made")


def _of_file_system(existing: Path) -> DoctorFinding:
    kind = _kind_of(existing)
    if kind.partition(".")[0] in _NETWORK:
        message = f"{kind}: SQLite's write-ahead log needs a file system of this machine"
        return DoctorFinding(PROBLEM, "file system", message, "use a local disk, or etcd")
    if kind in _PASSING:
        message = f"{kind}: the data ends with the container or the machine"
        return DoctorFinding(WARNING, "file system", message, "use a volume or a disk, unless this is a test")
    return DoctorFinding(OK, "file system", kind or "unknown")


def _kind_of(path: Path) -> str:
    """The type of the file system of a path; empty where the system does not tell."""
    if not _MOUNTS.exists():
        return ""
    mounts = [line.split()[1:3] for line in _MOUNTS.read_text().splitlines()]
    fitting = [(len(place), kind) for place, kind in mounts if path.is_relative_to(place.replace("\\040", " "))]
    return max(fitting, default=(0, ""))[1]


def _of_space(existing: Path) -> DoctorFinding:
    free, inodes = shutil.disk_usage(existing).free, os.statvfs(existing)
    message = f"{free // _MIB} MiB are free"
    if inodes.f_files and inodes.f_favail < _FEW_INODES:
        return DoctorFinding(PROBLEM, "disk", f"{inodes.f_favail} files can be made", "delete files")
    if free < _LOW:
        return DoctorFinding(
            PROBLEM if free < _FULL else WARNING, "disk", message, "free some space, or apiserver compact"
        )
    return DoctorFinding(OK, "disk", message)


def _of_lock(directory: Path) -> DoctorFinding:
    try:
        holder = DataDir(directory).holder()
    except OSError as exc:
        return DoctorFinding(PROBLEM, "lock", f"{exc.filename}: {exc.strerror}", "change the owner of the files")
    if holder:
        message = f"process {holder} uses the directory; a second server needs one of its own"
        return DoctorFinding(OK, "lock", message)
    return DoctorFinding(OK, "lock", "no process uses the directory")


async def _of_database(directory: Path) -> DoctorFinding:
    path = DataDir(directory).database
    try:
        await FileReader(directory).close()
    except NoSpace as exc:
        return DoctorFinding(PROBLEM, str(path), str(exc), "free some space")
    except StorageError as exc:
        return DoctorFinding(PROBLEM, str(path), str(exc), "restore a backup, or use the release that wrote it")
    return DoctorFinding(OK, str(path), f"{DataDir(directory).size / _MIB:.1f} MiB; apiserver check verifies it")


def _of_member(status: "MemberStatus") -> Iterator[DoctorFinding]:
    subject = status.url
    if status.problem:
        yield DoctorFinding(
            PROBLEM, subject, status.problem, "start it, and look at --etcd-servers and the certificates"
        )
        return
    yield _of_version(status)
    for alarm in status.alarms:
        remedy = "apiserver compact --etcd-servers=..." if "NOSPACE" in alarm else "replace the member"
        yield DoctorFinding(PROBLEM, subject, alarm, remedy)
    if status.is_learner or not status.has_leader:
        message = "it is a learner" if status.is_learner else "its cluster has no leader"
        yield DoctorFinding(PROBLEM, subject, message, "promote it, or start the other members")
    if status.size > 0.8 * _QUOTA:
        message = f"{status.size // _MIB} MiB, {status.used // _MIB} MiB of them in use"
        yield DoctorFinding(WARNING, subject, message, "etcd's default quota is 2048 MiB; run apiserver compact")
    if status.seconds > _SLOW_SECONDS:
        yield DoctorFinding(WARNING, subject, f"an answer took {status.seconds * 1000:.0f} ms", "look at its disk")


def _of_version(status: "MemberStatus") -> DoctorFinding:
    message = f"etcd {status.version}, {status.size // _MIB} MiB, revision {status.revision}"
    if status.has_reliable_progress:
        return DoctorFinding(OK, status.url, message)
    remedy = "from 3.4.25 and 3.5.8 on, lists are answered from memory"
    return DoctorFinding(WARNING, status.url, message, remedy)
