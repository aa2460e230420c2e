"""Printing: objects as rows of tables, for people."""
