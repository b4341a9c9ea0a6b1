"""The only folder that knows HTTP and HTML."""
