"""Authorization: the authorization modes Node, RBAC, ABAC and Webhook, and their metrics."""
