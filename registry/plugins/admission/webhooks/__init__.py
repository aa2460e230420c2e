"""Admission webhooks: programs elsewhere that change writes or refuse them, as configurations tell."""
