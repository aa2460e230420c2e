"""Server-side apply: who owns which fields of an object, and what an applied configuration makes of it. Pure.

elements, fields    paths and sets of fields, in the form of FieldsV1
shapes              how the values of a type are taken apart, compiled from its schema
checks, contents, compare, merge, removal, reconcile    the walks over typed values
creation            what a writer owns of a new object, compiled once a type: this is on the road of every create
managed             metadata.managedFields: its entries, their order, their limits
ownership           what updates and applies make of field sets
conflicts, last_applied, resets, scale    their words; the way from client-side apply; who cannot set what; /scale
manager             FieldManager: all of it for one kind in one version
"""
