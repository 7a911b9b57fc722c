"""Honeyguide where people already work: agents (MCP), Scrapy, and any other crawler by plain functions."""
