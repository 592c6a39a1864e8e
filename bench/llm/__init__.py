"""Consolidation with a real, small and bad model: what its answers are like, and what the butler makes of them."""
