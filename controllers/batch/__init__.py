"""Batch: the controllers of jobs and cron jobs, with their decisions."""
