"""The same work on this project and on what people use today."""
