"""Which rule of CBP-SLC brought in each page (figure 14 of the study), by the labels of the web."""

from __future__ import annotations

from honeyguide.lab.measures.extras import Finished, gives
from honeyguide.ordering.cbp_slc import RULES
from honeyguide.web import url_id


@gives(*(f"{what}{rule}" for what in ("by_", "targets_by_") for rule in RULES))
def rules(crawl: Finished) -> dict[str, float]:
    """Pages fetched by each rule, and how many of these are targets; zero for other orders."""
    fetched, targets = dict.fromkeys(RULES, 0), dict.fromkeys(RULES, 0)
    for url, page in zip(crawl.urls, crawl.record.fetched, strict=True):
        record = crawl.state.url_by_row(crawl.state.row_of(url_id(url)))
        rule = int(record.memo.get("rule", 0.0)) if record is not None else 0
        if rule:
            fetched[RULES[rule - 1]] += 1
            targets[RULES[rule - 1]] += page.on_target
    return {f"by_{rule}": float(fetched[rule]) for rule in RULES} | {
        f"targets_by_{rule}": float(targets[rule]) for rule in RULES
    }
