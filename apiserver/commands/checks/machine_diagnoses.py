"""machine_diagnoses: what would go wrong on this machine: ports, files and their rights, certificates, clock, limits.

It changes nothing. Must hold: a subject that is fine is reported as well, so that a reader sees what was looked at.
"""

import ctypes
import errno
import os
import resource
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509

from aio_apiserver.apiserver.commands.checks.findings import OK, PROBLEM, WARNING, DoctorFinding
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire import binding
from aio_apiserver.base.clock import Clock

_WRITTEN = frozenset({"audit_log_path", "cert_dir", "data_dir", "ready_file", "write_kubeconfig"})
"""The settings of files and folders that the server makes."""
_ENDING = timedelta(days=30)
_AHEAD_SECONDS = 60.0
_FEW_FILES, _MANY_FILES = 1024, 4096
_UNSYNCHRONIZED = 5
_TIMEX_BYTES = 512
"""More than the structure of any kernel."""


def diagnoses(settings: Settings, clock: Clock, *, is_serving: bool) -> Iterator[DoctorFinding]:
    """All subjects. is_serving: whether a server answers on the secure port."""
    yield _of_port("--secure-port", settings.bind_address, settings.secure_port, is_serving=is_serving)
    if settings.insecure_port:
        yield _of_port("--insecure-port", binding.LOOPBACK, settings.insecure_port, is_serving=is_serving)
    for name, path in _files(settings):
        yield _of_file(name, path)
    yield from _of_certificates(settings, datetime.fromtimestamp(clock.now(), UTC))
    yield _of_clock(settings, clock.now())
    yield _of_limit()


def _of_port(flag: str, address: str, port: int, *, is_serving: bool) -> DoctorFinding:
    subject = f"{flag}={port}"
    try:
        binding.bind(address, port, is_shared=False).close()
    except OSError as exc:
        if exc.errno == errno.EADDRINUSE and is_serving:
            return DoctorFinding(OK, subject, "a server of this program answers")
        if exc.errno == errno.EADDRINUSE:
            return DoctorFinding(PROBLEM, subject, "another process has the port", "end it, or choose another port")
        if exc.errno == errno.EADDRNOTAVAIL:
            return DoctorFinding(
                PROBLEM, f"--bind-address={address}", "this machine has no such address", "choose another"
            )
        return DoctorFinding(PROBLEM, subject, os.strerror(exc.errno or 0), "choose a port above 1023")
    return DoctorFinding(OK, subject, "free")


def _files(settings: Settings) -> Iterator[tuple[str, Path]]:
    """The files that the flags name, by flag, but for those that the server makes."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if name not in _WRITTEN and isinstance(value, Path):
            yield f"--{name.replace('_', '-')}", value


def _of_file(flag: str, path: Path) -> DoctorFinding:
    subject = f"{flag}={path}"
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except OSError as exc:
        return DoctorFinding(PROBLEM, subject, os.strerror(exc.errno or 0), "name a file that this user may read")
    if "key" in flag and mode & 0o077:
        return DoctorFinding(WARNING, subject, f"others may read it (mode {mode:o})", f"chmod 600 {path}")
    return DoctorFinding(OK, subject, "readable")


def _of_certificates(settings: Settings, now: datetime) -> Iterator[DoctorFinding]:
    own = [settings.pki_dir / name for name in ("ca.crt", "apiserver.crt")]
    for path in (*own, settings.tls_cert_file, settings.client_ca_file, settings.etcd_cafile, settings.etcd_certfile):
        if path is not None and _is_there(path):
            yield _of_certificate(path, now, is_renewed=path == own[1])
    for path in _matching(settings.pki_dir, "*.key"):
        if (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            yield DoctorFinding(PROBLEM, str(path), f"others may read the key (mode {mode:o})", f"chmod 600 {path}")


def _matching(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder in their order; none when this user may not look into it."""
    return sorted(folder.glob(pattern)) if os.access(folder, os.R_OK | os.X_OK) else []


def _is_there(path: Path) -> bool:
    """Whether there is a file, or a folder that this user may not look into."""
    try:
        return path.exists()
    except PermissionError:
        return True


def _of_certificate(path: Path, now: datetime, *, is_renewed: bool) -> DoctorFinding:
    try:
        found = x509.load_pem_x509_certificate(path.read_bytes())
    except PermissionError:
        return DoctorFinding(PROBLEM, str(path), "this user may not read it", "run as the user of the server")
    except (OSError, ValueError) as exc:
        return DoctorFinding(PROBLEM, str(path), f"no certificate can be read: {exc}", "replace it")
    begins, ends = found.not_valid_before_utc, found.not_valid_after_utc
    if now < begins:
        return DoctorFinding(
            PROBLEM, str(path), f"valid from {begins:%Y-%m-%d %H:%M} on", "set the clock of this machine"
        )
    if now > ends - _ENDING and not is_renewed:
        severity, word = (PROBLEM, "ended") if now > ends else (WARNING, "ends")
        return DoctorFinding(severity, str(path), f"{word} on {ends:%Y-%m-%d}", "replace it")
    return DoctorFinding(OK, str(path), f"valid until {ends:%Y-%m-%d}" + (", then renewed" if is_renewed else ""))


def _of_clock(settings: Settings, now: float) -> DoctorFinding:
    """Leases, certificates and tokens end by the clock of this machine."""
    written = [*_matching(settings.data_dir, "store.db*"), *_matching(settings.pki_dir, "*.crt")]
    ahead = max((path.stat().st_mtime - now for path in written), default=0.0)
    if ahead > _AHEAD_SECONDS:
        message = f"files of the server are {ahead:.0f} s newer than the clock of this machine"
        return DoctorFinding(PROBLEM, "clock", message, "set the clock before the server starts")
    if not _is_synchronized():
        return DoctorFinding(WARNING, "clock", "the kernel does not know it as synchronized", "run an NTP client")
    return DoctorFinding(OK, "clock", f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S} UTC")


def _is_synchronized() -> bool:
    """Whether the kernel calls the clock synchronized; true where it cannot be asked."""
    if sys.platform != "linux":
        return True
    with suppress(AttributeError, OSError):
        return bool(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)) != _UNSYNCHRONIZED)
    return True


def _of_limit() -> DoctorFinding:
    """The server raises the soft limit to the hard one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= _MANY_FILES:
        return DoctorFinding(OK, "open files", "no limit" if hard == resource.RLIM_INFINITY else f"at most {hard}")
    severity = PROBLEM if hard < _FEW_FILES else WARNING
    return DoctorFinding(
        severity, "open files", f"at most {hard}, one for each client", "raise LimitNOFILE or ulimit -n"
    )
