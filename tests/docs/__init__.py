"""The documents: what they show works, and where they point something is."""
