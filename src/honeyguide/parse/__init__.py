"""HTML, plain text and PDF to `Page`: links, contexts, content blocks, main text, language.

`html.parse_page` does it in this process; `pool.ParsePool` in processes that can be killed.
"""
