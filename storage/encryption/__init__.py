"""Encryption: encryption at rest: EncryptionConfiguration, its validation, its providers and its reload."""
