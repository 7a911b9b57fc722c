"""Webs to experiment on: generated, recorded, hostile; and a server for them."""
