"""The portal: a local web application on a collection, running or finished.

How to add a page:

1. Write `ui/NAME.py` with handlers and a module-level `ROUTES: list[BaseRoute]`, and add the module to
   `FEATURES` in `ui/app.py`: one line. A handler is a plain function of the request; Starlette runs it in
   a thread, so it may read files and databases. One that needs a form is a coroutine that awaits
   `read_form` and hands the rest to `run_in_threadpool`.
2. `portal_of(request)` is the application's state. `with portal_of(request).reading() as collection:`
   gives an open, read-only `Collection` that is this handler's alone until the block ends; it sees what
   the crawl, in whichever process, has committed. Nothing in the portal opens the state for writing. A
   folder without a collection raises `CollectionError`, and every `HoneyguideError` becomes a page with
   its one line: handlers need not catch them. `portal.row_of(url)` finds a URL's row without reading all
   of them again, and `portal.catalogue()` has what lists need of every page (host, language, date, score)
   as arrays, so that filters and sorting take milliseconds.
3. `render(request, "NAME.html", title=…, **values)` renders `ui/templates/NAME.html`, which extends
   `base.html` and fills the blocks `main` and, for an ES module, `scripts`. Everything is escaped: never
   `|safe`, never `Markup`. The policy forbids inline script and style (also `style=`, `onclick=`): sizes
   in SVG attributes or classes, behaviour in `ui/static/NAME.js`, loaded as a module. Addresses from the
   web are links only through `{{ outside(url) }}` in `macros.html`, which makes anything but http and
   https plain text. Trusted Types are on: no `innerHTML`; use `node()` of `static/dom.js`.
4. Changes are POST requests of a form with `action` on this server; the middleware in `ui/security.py`
   has checked token, Host and Origin before a handler runs, so there is nothing to add. Answer with
   `see_other(path)`. GET changes nothing. In templates the portal's own paths begin with `{{ root }}`, in
   scripts with `root` of `static/dom.js`: with several collections their pages are below `/c/NAME`.
5. Every list is paged: `page_of(request)` reads the number, the macro `pager` draws the links.

To steer a crawl, also one in another process, see `honeyguide.engine.control`.
"""
