"""Tests of apiserver/tracing."""
