"""A crawl as its user has it: `Crawl`, how its parts are put together, and looking into one."""
