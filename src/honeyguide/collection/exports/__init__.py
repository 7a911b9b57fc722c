"""What a collection can be written as: WARC, WACZ, GEXF, OPML, a datasheet. Tables are in `store.tables`.

Every export reads the pages one by one and writes as it reads; what it must remember of a page is a number.
Files appear when they are whole (`store.atomic`). Texts come from the web, so each format has its own
guard: `xml_text` for XML, JSON's own escapes, `html.escape` for HTML.
"""
