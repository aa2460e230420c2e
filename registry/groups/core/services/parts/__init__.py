"""Parts: rules for the spec of a service that validation and allocation share. Pure."""
