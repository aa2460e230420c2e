"""Storage: ordered keys, one revision, watches and caches. Knows no kind and no HTTP."""
