"""The generic Store, a file a verb, and what groups make of it: /status, /scale and the resources of their kinds."""
