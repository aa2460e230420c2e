"""Terminal: the arguments, the tables and the progress of commands."""
