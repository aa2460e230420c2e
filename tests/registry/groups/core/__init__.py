"""Kinds of this group: their rules, without a server."""
