"""The Python of scripts/."""
