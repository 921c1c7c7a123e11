from __future__ import annotations

import pytest

from parley.templates import template


def test_a_template_ends_without_a_newline() -> None:
    assert template("answer_short").endswith(".")


def test_a_name_without_a_file_is_a_mistake_in_the_code() -> None:
    with pytest.raises(FileNotFoundError):
        template("no_such_template")
