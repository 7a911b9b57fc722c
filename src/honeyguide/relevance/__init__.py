"""relevance."""
