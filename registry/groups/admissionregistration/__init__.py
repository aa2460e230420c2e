"""admissionregistration: the configurations of admission webhooks, and admission policies."""
