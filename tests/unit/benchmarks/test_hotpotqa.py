from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from parley.benchmarks.hotpotqa import HotpotQA
from parley.errors import ConfigError, DataError
from parley.protocols import Benchmark
from parley.types import Problem
from shared_data import SHARED, needs_shared

DATA = SHARED / "data"
HUB = DATA / "hotpotqa_distractor_validation.hub.jsonl"
ORIGINAL = DATA / "hotpot_dev_distractor_v1.first53.json"
ODD = json.loads((DATA / "odd_rows.json").read_text("utf-8")) if DATA.exists() else {}


def loaded(path: Path, **settings: object) -> dict[str, Problem]:
    return {p.id: p for p in HotpotQA(path=str(path), **settings).load().problems}  # type: ignore[arg-type]


def row(ident: str = "q1", **changes: object) -> dict[str, object]:
    return {
        "id": ident,
        "question": "Who?",
        "answer": "Ann",
        "supporting_facts": {"title": ["A", "B"], "sent_id": [0, 0]},
        "context": {"title": ["A", "B"], "sentences": [["a", " x"], ["b"]]},
    } | changes


def saved(folder: Path, *rows: dict[str, object]) -> Path:
    path = folder / "rows.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def test_it_is_a_benchmark_and_says_what_it_measures() -> None:
    benchmark: Benchmark = HotpotQA()
    assert (benchmark.name, benchmark.metric) == ("hotpotqa", "f1")
    assert benchmark.metrics == ("em", "f1", "f1_squad")


@needs_shared
def test_every_real_row_loads_regularly() -> None:
    dataset = HotpotQA(path=str(HUB)).load()
    assert len(dataset.problems) == 254
    assert dataset.notes == {"html_entity": len(ODD["hotpot_html_entity"])}
    for problem in dataset.problems:
        assert [len(share) for share in problem.shares] == [5, 5]
        assert len(problem.facts) >= 2
        assert problem.kind in ("bridge", "comparison")
        texts = [" ".join(p.text for p in share) for share in problem.shares]
        assert all(any(fact in text for text in texts) for fact in problem.facts)
        assert all(p.text == " ".join(p.text.split()) for share in problem.shares for p in share)


@needs_shared
def test_the_original_shape_gives_the_same_problems_as_the_hub() -> None:
    hub, original = loaded(HUB), loaded(ORIGINAL)
    common = hub.keys() & original.keys()
    assert len(original) == 53
    assert len(common) >= 52
    for ident in common:
        theirs, ours = original[ident], hub[ident]
        assert (theirs.question, theirs.answers, theirs.shares, theirs.facts, theirs.notes) == (
            ours.question,
            ours.answers,
            ours.shares,
            ours.facts,
            ours.notes,
        )


@needs_shared
def test_the_split_does_not_depend_on_the_place_in_the_file(tmp_path: Path) -> None:
    lines = [line for line in HUB.read_bytes().split(b"\n") if line]
    path = tmp_path / "turned.jsonl"
    path.write_bytes(b"\n".join(reversed(lines[::2])))
    turned, whole = loaded(path), loaded(HUB)
    assert len(turned) == 127
    assert all(whole[ident] == problem for ident, problem in turned.items())


@needs_shared
def test_every_odd_row_is_there_and_sound() -> None:
    problems = loaded(HUB) | loaded(
        DATA / "hotpotqa_distractor_validation.few_paragraphs.hub.jsonl"
    )
    named = [
        item if isinstance(item, str) else next(part for part in item if len(str(part)) == 24)
        for group, items in ODD.items()
        if group.startswith("hotpot_")
        for item in items
    ]
    assert len(named) > 200
    for ident in named:
        assert problems[ident].question.strip()
        assert HotpotQA().grade(problems[ident], problems[ident].answers[-1]).metrics["em"] == 1
    for answer, group in (("yes", "hotpot_yes"), ("no", "hotpot_no")):
        assert {problems[ident].answers for ident in ODD[group]} == {(answer,)}
    for ident, answer in ODD["hotpot_answer_odd_punct"] + ODD["hotpot_answer_nonascii"]:
        assert problems[ident].answers[0] == answer


@needs_shared
def test_two_paragraphs_are_dealt_one_and_one() -> None:
    (problem,) = loaded(DATA / "hotpotqa_distractor_validation.few_paragraphs.hub.jsonl").values()
    assert [len(share) for share in problem.shares] == [1, 1]
    assert problem.notes == ("few_paragraphs",)


@needs_shared
def test_rows_without_their_gold_paragraphs_are_counted_and_can_be_left_out() -> None:
    path = DATA / "hotpotqa_fullwiki_validation.odd.hub.jsonl"
    dataset = HotpotQA(path=str(path)).load()
    assert len(dataset.problems) == 17
    assert dataset.notes["absent_gold"] == 15
    assert dataset.notes["few_paragraphs"] == 2
    assert all(abs(len(p.shares[0]) - len(p.shares[1])) <= 1 for p in dataset.problems)
    two = HotpotQA(path=str(path), gold="two").load()
    assert len(two.problems) == 2
    assert two.notes["left_out_not_two_gold"] == 15


def test_a_bad_pointer_of_the_split_never_fails_a_load(tmp_path: Path) -> None:
    bad = row(supporting_facts={"title": ["A", "B"], "sent_id": [902, 0]})
    dataset = HotpotQA(path=str(saved(tmp_path, bad))).load()
    assert dataset.notes == {"bad_sentence_id": 1, "few_paragraphs": 1}
    assert dataset.problems[0].facts == ("b",)


def test_sentences_bring_their_own_space(tmp_path: Path) -> None:
    (problem,) = HotpotQA(path=str(saved(tmp_path, row()))).load().problems
    assert {p.text for share in problem.shares for p in share} == {"a x", "b"}


def test_a_malformed_row_is_named_by_file_and_line(tmp_path: Path) -> None:
    path = saved(tmp_path, row("q1"), row("q2", question=None))
    with pytest.raises(DataError, match=r"rows\.jsonl, line 2: 'question' is missing"):
        HotpotQA(path=str(path)).load()


def test_yes_and_no_follow_the_official_rule() -> None:
    problem = Problem(id="q", question="Are they?", answers=("yes",))
    score = HotpotQA().grade(problem, "Answer: Yes, both are Polish.")
    assert score.metrics == {"em": 0, "f1": 0, "f1_squad": pytest.approx(0.4)}


def test_settings_are_checked_at_birth() -> None:
    with pytest.raises(ConfigError, match="short or none"):
        HotpotQA(answer="long")
    with pytest.raises(ConfigError, match="any or two"):
        HotpotQA(gold="three")
    problem = Problem(id="q", question="Who?", answers=("Ann",))
    asked = {HotpotQA(answer=answer).answer_format(problem) for answer in ("short", "none")}
    assert len(asked) == 2
