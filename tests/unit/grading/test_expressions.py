from __future__ import annotations

import asyncio
import time

import pytest

from parley.grading.answers import Extracted
from parley.grading.expressions import LONGEST, compare, grade_expression, require_math_verify
from shared_data import case

pytest.importorskip("math_verify")


async def test_a16_gold_first_and_from_a_worker_thread() -> None:
    assert 'gold="1<x<2", pred="(1,2)"' in case("A16")["input"]["call"]
    score = await asyncio.to_thread(grade_expression, "1<x<2", "\\boxed{(1,2)}")
    assert (score.metrics, score.status) == ({"accuracy": 1}, "ok")
    turned = await asyncio.to_thread(grade_expression, "(1,2)", "\\boxed{1<x<2}")
    assert turned.metrics == {"accuracy": 0}


@pytest.mark.parametrize(
    ("gold", "text", "right"),
    [
        ("\\frac{1}{2}", "Answer: 0.5", 1),
        ("$x^2+2x+1$", "\\boxed{(x+1)^2}", 1),
        ("\\sqrt{2}", "so \\boxed{1.5}", 0),
        ("6", "\\boxed{3!}", 1),
        ("3", "\\boxed{3!}", 0),
        ("6", "Answer: $3!$", 1),
        ("33", "Answer: 33!", 1),
        ("x^2", "Answer: $x^2$!", 1),
        ("\\frac{1}{2}", "\\boxed{\\frac 1 2}", 1),
        ("1234567.5", "\\boxed{1\\,234\\,567.5}", 1),
        ("46", "12 34", 0),
        ("6", "Answer: 1 2 3", 0),
        ("1 2 3", "Answer: 1  2 3", 1),
        ("(1234,5)", "\\boxed{(1\\;234, 5)}", 1),
    ],
)
def test_equal_expressions(gold: str, text: str, right: int) -> None:
    assert grade_expression(gold, text).metrics == {"accuracy": right}


@pytest.mark.parametrize("text", ["Answer: 1 234", "Answer: 1~234"])
def test_a04_thousands_set_apart_are_never_a_sum(text: str) -> None:
    boxed = case("A04")["input"]["outputs"][:4]
    for one in (*boxed, text):
        scores = [grade_expression(str(gold), one) for gold in case("A04")["input"]["golds"]]
        assert [score.metrics["accuracy"] for score in scores] == [1, 0], one


@pytest.mark.slow
@pytest.mark.parametrize("said", ["9^{9^{9^{9^{9}}}}", "(" * 900 + "1" + ")" * 900])
def test_the_time_limit_holds_and_the_next_grade_is_sound(said: str) -> None:
    compare("1", Extracted(value="1"))  # the worker is up
    started = time.monotonic()
    assert compare("7", Extracted(value=said), limit_s=1.0) == (False, "timeout")
    assert time.monotonic() - started < 5
    assert compare("7", Extracted(value="7")) == (True, "ok")


async def test_the_event_loop_goes_on_while_an_expression_is_stuck() -> None:
    grading = asyncio.create_task(
        asyncio.to_thread(compare, "7", Extracted(value="9^{9^{9^{9^{9}}}}"), limit_s=1.0)
    )
    ticks = 0
    while not grading.done():
        await asyncio.sleep(0.02)
        ticks += 1
    assert ticks > 10
    assert await grading == (False, "timeout")


def test_what_cannot_be_read_is_wrong_and_says_why() -> None:
    assert grade_expression("7", "no idea\nAnswer:").status == "no_answer"
    assert grade_expression("46", "\\boxed{12 34}").status == "unparsed"
    assert grade_expression("7", "Answer: 7", truncated=True).status == "truncated"
    assert grade_expression("7", f"\\boxed{{{'1+' * LONGEST}1}}").status == "too_long"
    assert grade_expression("7", "Answer: " + "x" * 10_000_000).status == "too_long"


def test_the_package_is_at_hand() -> None:
    require_math_verify()
