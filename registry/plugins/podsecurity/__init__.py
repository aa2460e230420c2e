"""The Pod Security Standards: which pods the levels privileged, baseline and restricted allow, version by version."""
