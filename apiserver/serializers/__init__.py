"""Serializers: objects to and from the formats that clients speak."""
