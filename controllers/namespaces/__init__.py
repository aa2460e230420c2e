"""Namespaces: the controllers of namespaces and of what each namespace has: accounts, certificates, quotas."""
