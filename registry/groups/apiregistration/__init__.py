"""apiregistration: APIServices, which name the server of each API group and version."""
