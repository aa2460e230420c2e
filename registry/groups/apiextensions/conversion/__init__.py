"""Conversion: custom resources between versions."""
