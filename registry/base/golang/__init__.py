"""Golang."""
