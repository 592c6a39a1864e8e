"""Consolidation with a real, small and bad model: the quality of its answers, and what butler keeps of them."""
