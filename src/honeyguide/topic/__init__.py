"""What the user asks for, as files: `topic.toml`, its template, and the patterns that name example pages."""

from honeyguide.topic.file import TopicFile, nearest, read, write_new
from honeyguide.topic.template import render

__all__ = ["TopicFile", "nearest", "read", "render", "write_new"]
