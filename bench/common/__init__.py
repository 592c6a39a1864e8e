"""What the measurements in Python share. Standard library only: they run before anything is installed."""
