"""Events: reports of components about objects."""
