"""Fixtures: one simulated cluster for all tests of a file, reset before each test."""

from tests.controllers.conftest import client, server, shared

__all__ = ["client", "server", "shared"]
