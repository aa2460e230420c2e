"""CEL: the Common Expression Language as Kubernetes uses it.

The grammar and its macros are those of Google's own parser (cel-expr-python). Types, evaluation and costs are ours: the
library has neither Kubernetes' cost limits nor its error texts, and its checker refuses comparisons between kinds of
numbers, which Kubernetes allows. Knows no schema's form and no admission.

    Environment(...).compile(text) -> Program;  program.evaluate(variables, budget) -> value
"""
