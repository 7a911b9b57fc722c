"""What the user asks for, as files: `topic.toml`, its template, and the example pages it names."""

from honeyguide.topic.examples import Deferred, Gathered, gather
from honeyguide.topic.file import TopicFile, nearest, read, write_new
from honeyguide.topic.template import render

__all__ = ["Deferred", "Gathered", "TopicFile", "gather", "nearest", "read", "render", "write_new"]
