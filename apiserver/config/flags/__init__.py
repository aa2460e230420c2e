"""Flags: the tables of flags, by the groups of --help, and the types of their values."""
