"""TLS: certificates of the server and of clients, the TLS contexts, and files that are reloaded."""
