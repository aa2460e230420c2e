"""Apply: server-side apply: field managers, managedFields and the merge of applied configurations.

Pure. The modules follow structured-merge-diff (SMD) and managedfields upstream:

elements, fields   path elements and field sets in the form of FieldsV1
shapes             types as maps, lists and scalars, compiled from schema nodes
checks, contents, compare, merge, removal, reconcile   the walks over typed values
creation           the field set of a new object, compiled once a type, since every create needs it
managed            metadata.managedFields: entries, their order, their limits
ownership          the field sets after updates and applies
conflicts, last_applied, resets, scale   conflict errors; client-side apply; reset fields; /scale
manager            FieldManager for one kind in one version
webhook_converted  FieldManager for custom resources with a conversion webhook
"""
