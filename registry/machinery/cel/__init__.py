"""CEL: the Common Expression Language of Kubernetes: CRD validation rules, match conditions, admission policies.

Google's parser (cel-expr-python) reads the grammar and expands the macros. Types, evaluation and costs are ours,
because the library lacks Kubernetes' cost limits and error texts. Its checker also refuses comparisons between int and
double, which Kubernetes allows.

It must not know how OpenAPI schemas are stored, nor how admission runs.

    CelEnvironment(...).compile(text) -> Program;  program.evaluate(variables, budget) -> value
"""
