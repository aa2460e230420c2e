"""Authentication: the token authenticators of this server, and the users that a front proxy names."""
