"""CEL rules: compiles, estimates and evaluates x-kubernetes-validations."""
