"""statistics: an hour of the server's own metrics, for plots in the console."""
