"""The same work on this project and on other memory systems."""
