"""Where the events of an audit go: to a file, to a webhook, at once or in batches."""
