"""Storage's vocabulary of errors: what can go wrong below the registry, one class a cause.

Raised by the kv engines, by Store and by the Cacher; translated exactly once, by the registry's generic Store.
Knows neither Kubernetes' Status nor HTTP. Must hold: an engine never lets a library's own exception out.
"""


class StorageError(Exception):
    """Base of everything that this package raises on purpose."""


class KeyNotFound(StorageError):
    """The key does not exist at the revision that was asked for."""

    def __init__(self, key: str, revision: int = 0) -> None:
        super().__init__(f"key not found: {key}")
        self.key = key
        self.revision = revision


class KeyExists(StorageError):
    """A create met an existing key."""

    def __init__(self, key: str, revision: int = 0) -> None:
        super().__init__(f"key exists: {key}")
        self.key = key
        self.revision = revision


class PreconditionFailed(StorageError):
    """A uid or resourceVersion precondition, or a deletion's validation, does not hold for the current object.

    is_dry: for a write that would not have been one.
    """

    def __init__(self, key: str, message: str, *, is_dry: bool = False) -> None:
        super().__init__(f"precondition failed on {key}: {message}")
        self.key = key
        self.message = message
        self.is_dry = is_dry


class Conflict(StorageError):
    """An update lost its compare-and-set so often that it gave up; nothing was written."""

    def __init__(self, key: str, attempts: int) -> None:
        super().__init__(f"update of {key} lost {attempts} times against other writers")
        self.key = key
        self.attempts = attempts


class Compacted(StorageError):
    """The revision is older than what the store still keeps."""

    def __init__(self, revision: int, compact_revision: int) -> None:
        super().__init__(f"revision {revision} has been compacted (oldest kept: {compact_revision})")
        self.revision = revision
        self.compact_revision = compact_revision


class Expired(StorageError):
    """A list or a continue token needs a revision that is gone; `continue_token` resumes inconsistently if set."""

    def __init__(self, message: str, continue_token: str = "") -> None:
        super().__init__(message)
        self.continue_token = continue_token


class FutureRevision(StorageError):
    """The store (or the cache, after waiting) has not reached the revision that was asked for."""

    def __init__(self, revision: int, current: int) -> None:
        super().__init__(f"Too large resource version: {revision}, current: {current}")
        self.revision = revision
        self.current = current


class InvalidContinue(StorageError):
    """A continue token that this server never made, or one for another list."""


class InvalidOptions(StorageError):
    """A combination of list or watch options that has no meaning."""


class RevisionSet(InvalidOptions):
    """An object that is to be created and says already at which revision it is."""


class TooLarge(StorageError):
    """A value or request above the store's limit (etcd's 1.5 MiB on every engine)."""


class NoSpace(StorageError):
    """The store has no room left (a full disk, etcd's NOSPACE alarm): reads go on, writes fail until there is room."""


class Corrupt(StorageError):
    """Stored bytes that cannot be read back: unknown magic, truncated value, failed decryption."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"data of {key} cannot be read: {message}")
        self.key = key
        self.message = message


class LeaseNotFound(StorageError):
    """The lease has expired or never existed."""


class Unavailable(StorageError):
    """The store cannot be reached now; the request had no effect, and a later one may succeed."""


class DeadlineExceeded(Unavailable):
    """The store did not answer in time; for a write that could not be resolved by reading, the outcome is unknown."""


class Initializing(Unavailable):
    """A cache that has not filled yet and may not be waited for any longer; ask again soon."""


class Untranslatable(StorageError):
    """An object that could not be turned into the form in which it is kept, or back; the message is for clients."""


class NotStorable(StorageError):
    """An object that the codec cannot write: nested too deeply, or holding what is not JSON."""


class Unauthenticated(StorageError):
    """The store refuses our credentials or permissions."""


class Closed(StorageError):
    """The engine, store or cache was closed."""


class DataDirLocked(StorageError):
    """Another process holds the data directory of the embedded store."""
