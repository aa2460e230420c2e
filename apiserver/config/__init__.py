"""Config: the flags, the settings made from them, and the configuration files that they name."""
