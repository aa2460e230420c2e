"""Flowcontrol: API Priority and Fairness: which requests are executed, queued or rejected."""
