"""SQLite: the kv contract in one SQLite file, the embedded default store.

    engine.py       SqliteKV: the contract, put together from the other modules
    data_dir.py     the directory and its lock
    disk_reserve.py space of the disk for deletions
    schema.py       tables, opening and checking the file
    error_codes.py  errors of SQLite and of the file system as errors of storage
    workers.py      threads, and how a busy event loop lets them run
    transaction.py  one group of writes in the making
    commands.py     the commands of the writer
    committer.py    one group of commands as one transaction
    writer.py       group commit: many writes, one transaction, one fsync
    upkeep.py       checkpoints and vacuuming
    compaction.py   removal of superseded rows
    leases.py       expiry of leases
    reads.py        gets, ranges and replays in SQL
    reader.py       the threads that run reads
    file_reader.py  reads beside a running server, for commands
    loading.py      a new file from records, for restores
    shrinking.py    compaction of a store without a server
    verification.py faults of the file, for commands

Live events and watches are those of ../feed.py and ../watcher.py.
"""

from aio_apiserver.storage.kv.sqlite.engine import SqliteKV

__all__ = ["SqliteKV"]
