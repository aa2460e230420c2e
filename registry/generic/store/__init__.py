"""store: the generic Store, a file a verb, and the /status, /scale and providers that API groups build from it."""
