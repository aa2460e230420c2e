"""store: the generic Store, a file a verb, and what API groups build from it: /status, /scale, paths of kinds."""
