"""Config: ConfigMaps and Secrets, with the rules for their data."""
