"""Honeyguide: a focused web crawler. Give it a topic, get a collection."""
