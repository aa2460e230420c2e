"""Bodies: what a client sends, from bytes and a media type to hub objects and options; patches and applies among it."""
