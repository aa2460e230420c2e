"""apiextensions: CustomResourceDefinitions, and the custom resources that they define.

A definition as an object:

    customresourcedefinitions.py  the kind; definition_store.py: DELETE in two steps
    definition_rules.py           validation; it uses spec_view.py, internal_types.py and the files *_rules.py
    name_rules.py, version_rules.py, conversion_rules.py, subresource_rules.py, column_rules.py, webhook_clients.py
    schema_rules.py, structural_rules.py, default_rules.py, field_paths.py, rule_checks.py, rule_costs.py

The controller, which runs on every server:

    controller.py                 watches definitions; cleanup.py: deletes the objects of deleted definitions
    status_decisions.py           its decisions: naming.py (names), approval.py, structure.py; crd_conditions.py

Custom resources, as served:

    definition.py                 the facts of a definition; versions.py: the order of versions
    resources.py, offers.py       the storage and the REST storage of each version; versioned_storage.py
    strategy.py, object_rules.py  strategies and validation; scale.py, scale_rules.py
    rules.py                      CEL rules; rule_programs.py, rule_evaluation.py, rule_paths.py, rule_metrics.py
    conversion.py, forms.py       conversion between versions, by webhook too; service_addresses.py
    columns.py, json_paths.py     printer columns; selectable_fields.py: field selectors
"""
