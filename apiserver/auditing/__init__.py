"""Auditing: the backends of audit events: a log file or a webhook, at once or in batches."""
