"""facts: turns the sources of one release into facts about its types, gates, roles and parameters.

A module a subject. Each is a pure reader of a Release, and knows no table of the product.
"""
