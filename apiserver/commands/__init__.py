"""commands: the subcommands of the program that are no server."""
