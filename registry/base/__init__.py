"""Base: errors, names, Go's text forms and validation rules; the lowest floor of the registry.

It must not know kinds, storage backends or HTTP.
"""
