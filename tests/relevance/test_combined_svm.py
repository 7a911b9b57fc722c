from __future__ import annotations

import pytest

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples
from honeyguide.relevance.combined_svm import CombinedSvm
from honeyguide.testing.page_models import Check, all_checks, made_up_examples


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(CombinedSvm, made_up_examples())


def test_one_kind_of_example_is_refused() -> None:
    with pytest.raises(TopicError, match="both kinds"):
        CombinedSvm().fit(Examples(positives=(Document("owl"),)))
