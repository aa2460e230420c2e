"""tracing: traces of requests: sampled ones go to an OpenTelemetry collector, slow ones to the log with their steps."""
