"""Parts: rules for parts of core objects that several kinds share. It must not know kinds."""
