"""Tests of the schemas."""
