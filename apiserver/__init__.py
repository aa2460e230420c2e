"""The server: HTTP and people. The only package that knows aiohttp."""
