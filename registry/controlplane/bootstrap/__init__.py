"""What the server makes by itself, and keeps right while it runs."""
