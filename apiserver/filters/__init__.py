"""What happens to every request before its handler and after it: one duty a file, put together in app.py."""
