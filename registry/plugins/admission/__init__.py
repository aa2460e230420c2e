"""Admission: the plugins that mutate and validate a write between decoding and storing. One module holds one plugin."""
