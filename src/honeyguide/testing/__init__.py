"""Contract checks for page models, link orders and sources: one line in a plug-in's test checks everything.

The names of this module are public, like those of `honeyguide.parts`.

    from honeyguide.testing import check_link_order, check_page_model, check_source

    check_page_model(MyModel)
    check_link_order(lambda: MyOrder(judge=WordJudge(), option=3))
    check_source(lambda: MySource(["https://example.org/"]))

Every check raises `AssertionError` with what the part did wrong. `all_checks()` of the modules `page_models`,
`link_orders` and `sources` gives them one by one, for tests that show each by name.
"""

from __future__ import annotations

from honeyguide.testing.link_orders import WordJudge, check_link_order
from honeyguide.testing.page_models import check_page_model, made_up_examples
from honeyguide.testing.sources import check_source

__all__ = ["WordJudge", "check_link_order", "check_page_model", "check_source", "made_up_examples"]
