"""Tests of the kinds of this group, without a server."""
