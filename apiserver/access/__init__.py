"""Access: builds the authenticators and authorizers of the settings."""
