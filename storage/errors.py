"""Errors: the errors of storage, one class for each cause.

The kv engines, KVStore and Cacher raise them; the registry translates them into Status errors. They know neither Status
nor HTTP. Must hold: an engine raises no exceptions of its libraries.
"""

from collections.abc import Sequence


class StorageError(Exception):
    """Base of all errors of this package."""


class KeyNotFound(StorageError):
    """The key does not exist at the requested revision."""

    def __init__(self, key: str, revision: int = 0) -> None:
        super().__init__(f"key not found: {key}")
        self.key = key
        self.revision = revision


class KeyExists(StorageError):
    """The key of a create exists already."""

    def __init__(self, key: str, revision: int = 0) -> None:
        super().__init__(f"key exists: {key}")
        self.key = key
        self.revision = revision


class PreconditionFailed(StorageError):
    """A precondition on uid or resourceVersion, or the validation of a deletion, fails for the current object.

    is_dry: the write was a dry run.
    """

    def __init__(self, key: str, message: str, *, is_dry: bool = False) -> None:
        super().__init__(f"precondition failed on {key}: {message}")
        self.key = key
        self.message = message
        self.is_dry = is_dry


class TooManyConflicts(StorageError):
    """An update lost too many compare-and-sets; nothing was written."""

    def __init__(self, key: str, attempts: int) -> None:
        super().__init__(f"update of {key} lost {attempts} times against other writers")
        self.key = key
        self.attempts = attempts


class Compacted(StorageError):
    """The revision is older than the history of the store."""

    def __init__(self, revision: int, compact_revision: int) -> None:
        super().__init__(f"revision {revision} has been compacted (oldest kept: {compact_revision})")
        self.revision = revision
        self.compact_revision = compact_revision


class RevisionExpired(StorageError):
    """The revision of a list or token was compacted; `continue_token`, if set, resumes with the present state."""

    def __init__(self, message: str, continue_token: str = "") -> None:
        super().__init__(message)
        self.continue_token = continue_token


class FutureRevision(StorageError):
    """The store (or the cache, after waiting) has not reached the requested revision."""

    def __init__(self, revision: int, current: int) -> None:
        super().__init__(f"Too large resource version: {revision}, current: {current}")
        self.revision = revision
        self.current = current


class InvalidContinue(StorageError):
    """A continue token that is malformed or belongs to another list."""


class InvalidOptions(StorageError):
    """List or watch options that contradict each other."""


class StoreNotEmpty(InvalidOptions):
    """A copy must not write into a store that has objects."""


class RevisionSet(InvalidOptions):
    """An object to create already has a resourceVersion."""


class TooLarge(StorageError):
    """A value or request above the store's limit (etcd's 1.5 MiB, on every engine)."""


class NoSpace(StorageError):
    """The store is full (disk, or etcd's NOSPACE alarm): reads work, writes fail until there is space."""


class Corrupt(StorageError):
    """Stored bytes that cannot be read: unknown magic, truncated value, failed decryption.

    revision: of an object that cannot be decoded; 0 for a value that cannot be decrypted.
    """

    def __init__(self, key: str, message: str, *, revision: int = 0) -> None:
        super().__init__(f"data of {key} cannot be read: {message}")
        self.key = key
        self.message = message
        self.revision = revision


class CorruptObjects(Corrupt):
    """The objects of a list that cannot be read; the message names the first one. is_cut: there are more of them."""

    def __init__(self, found: Sequence[Corrupt], *, is_cut: bool) -> None:
        super().__init__(found[0].key, found[0].message, revision=found[0].revision)
        self.found = found
        self.is_cut = is_cut


class LeaseNotFound(StorageError):
    """The lease has expired or never existed."""


class Unavailable(StorageError):
    """The store cannot be reached; the request had no effect and may succeed later."""


class DeadlineExceeded(Unavailable):
    """The store did not answer in time. The outcome of a write is unknown, unless a read could resolve it."""


class Initializing(Unavailable):
    """The cache is not filled yet, and the waiting time is over; the client may try again soon."""


class Untranslatable(StorageError):
    """The conversion webhook could not convert an object; the message is for clients."""


class NotStorable(StorageError):
    """The codec cannot write the object: it is nested too deeply or contains values that are no JSON."""


class Unauthenticated(StorageError):
    """The store refuses our credentials or permissions."""


class Closed(StorageError):
    """The engine, store or cache is closed."""


class DataDirLocked(StorageError):
    """Another process has locked the data directory of the embedded store."""
