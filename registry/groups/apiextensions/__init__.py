"""apiextensions: CustomResourceDefinitions, and the custom resources that they define."""
