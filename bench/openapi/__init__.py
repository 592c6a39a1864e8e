"""schemathesis against the REST API of a running server."""
