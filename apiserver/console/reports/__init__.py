"""reports: what happened on a server as one HTML file: findings, timeline, objects with their changes, log.

A test writes one when it fails, and `apiserver report` writes one of a running server. It must not know pytest.
"""
