"""upstream: reads the sources of Kubernetes, and writes the tables of the product that were taken from them.

`scripts/generate` is its command. trees.py reads files, golang/ and protos.py read their languages, facts/ turns the
files of one release into facts, and tables/ turns the facts of all releases into the files of the product.

Must hold: what a reader does not understand is an error with file and line, never a missing row.
"""
