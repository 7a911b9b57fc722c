"""Pictures: curves of crawls, content blocks of a page, layers of a context graph."""
