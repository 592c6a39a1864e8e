"""Shared code of the Python programs. Standard library only, because it runs before anything is installed."""
