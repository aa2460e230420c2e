"""Webhooks: the admission plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook."""
