"""The embedded default store: the kv contract in one SQLite file.

engine.py        SqliteKV: the contract, put together from what follows
data_dir.py      the directory and its lock
schema.py        tables, statements' vocabulary, opening and checking the file
faults.py        what SQLite and the file system report, in storage's words
workers.py       threads, and how a busy event loop lets them run
transaction.py   one group of writes in the making
commands.py      what can be asked of the writer
writer.py        group commit: many writes, one transaction, one fsync
upkeep.py        checkpoints and vacuuming
compaction.py    when to let go of superseded rows
leases.py        when leases expire
reads.py         gets, ranges and replays in SQL
reader.py        who runs them
feed.py          live events, by key range
watcher.py       a watch: replay from the table, then the feed
"""

from aio_apiserver.storage.kv.sqlite.engine import SqliteKV

__all__ = ["SqliteKV"]
