"""tables: the tables of the product that are taken from Kubernetes, a module each.

A module knows its files and their form. It reads them into facts by minor, and writes the facts of all minors again.
"""
