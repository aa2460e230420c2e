"""Bodies: decodes the request bodies of creates, updates, patches and deletions to hub objects and options."""
