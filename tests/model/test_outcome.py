from __future__ import annotations

import re

from honeyguide.config.schema import Config
from honeyguide.model import Outcome


def test_every_outcome_has_a_label_of_its_own() -> None:
    labels = [outcome.label for outcome in Outcome]
    assert all(labels)
    assert len(set(labels)) == len(labels)


def test_settings_that_change_an_outcome_exist() -> None:
    for outcome in Outcome:
        if not outcome.setting:
            continue
        found = re.fullmatch(r"(?:(\w+) in )?\[(\w+)\]", outcome.setting)
        assert found, outcome
        key, table = found.groups()
        fields = Config.model_fields[table].annotation.model_fields  # type: ignore[union-attr]
        assert key is None or key in fields, outcome
