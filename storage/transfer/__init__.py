"""Transfer: backups of a store, and copies from one store to another.

contents.py   the records of a store at one revision, as a stream
archive.py    the file of a backup: archive_frames.py reads and writes it, archive_rules.py says what may be in it
applying.py   makes a store equal to a stream of records, by the kv contract
opening.py    the store that the configuration names, to read and to write
"""
