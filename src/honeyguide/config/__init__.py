"""Configuration: what a topic file may say, which parts there are, and how they are wired.

`schema` and `load` are quick to import; `registry` and `build` bring in the algorithms.
"""
