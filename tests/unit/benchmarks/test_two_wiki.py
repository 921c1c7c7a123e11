from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from parley.benchmarks.two_wiki import TwoWiki, read_aliases
from parley.errors import ConfigError, DataError
from parley.protocols import Benchmark
from shared_data import SHARED, needs_shared

DATA = SHARED / "data"
HUB = DATA / "2wikimultihopqa_validation.hub.jsonl"
ORIGINAL = DATA / "2wikimultihopqa_dev.orig.jsonl"
ODD = json.loads((DATA / "odd_rows.json").read_text("utf-8")) if DATA.exists() else {}
ROW = {
    "_id": "q1",
    "type": "compositional",
    "question": "Where?",
    "answer": "The Bronx",
    "answer_id": "Q18426",
    "context": [["A", ["One.", "Two."]], ["B", ["Three."]]],
    "supporting_facts": [["A", 0], ["B", 0]],
}


def saved(folder: Path, name: str, *rows: object) -> str:
    (folder / name).write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return str(folder / name)


def test_it_is_a_benchmark_and_says_what_it_measures() -> None:
    benchmark: Benchmark = TwoWiki()
    assert (benchmark.name, benchmark.metric) == ("two_wiki", "f1")
    assert benchmark.metrics == ("em", "f1", "f1_squad")


@needs_shared
def test_every_real_row_loads_alike_in_both_shapes() -> None:
    hub, original = TwoWiki(path=str(HUB)).load(), TwoWiki(path=str(ORIGINAL)).load()
    assert len(hub.problems) == 300
    assert hub.problems == original.problems
    assert hub.source != original.source
    assert hub.notes == {"four_gold": 75, "repeated_title": 9}
    for problem in hub.problems:
        assert [len(share) for share in problem.shares] == [5, 5]
        assert TwoWiki().grade(problem, problem.answers[0]).metrics["em"] == 1
    repeated = {p.id for p in hub.problems if "repeated_title" in p.notes}
    assert repeated == set(ODD["2wiki_duplicate_context_titles"])


@needs_shared
def test_four_gold_titles_are_split_two_and_two_and_can_be_left_out() -> None:
    gold = {}
    for line in ORIGINAL.read_bytes().split(b"\n"):
        if line:
            row = orjson.loads(line)
            gold[row["_id"]] = {title for title, _ in row["supporting_facts"]}
    for problem in TwoWiki(path=str(ORIGINAL)).load().problems:
        golds = [{p.title for p in share} & gold[problem.id] for share in problem.shares]
        assert [len(g) for g in golds] == (
            [2, 2] if problem.kind == "bridge_comparison" else [1, 1]
        )
    two = TwoWiki(path=str(ORIGINAL), gold="two").load()
    assert len(two.problems) == 225
    assert two.notes["left_out_not_two_gold"] == 75


def test_sentences_are_joined_by_a_space(tmp_path: Path) -> None:
    (problem,) = TwoWiki(path=saved(tmp_path, "a.jsonl", ROW)).load().problems
    assert {p.text for share in problem.shares for p in share} == {"One. Two.", "Three."}


def test_aliases_and_demonyms_count_as_gold(tmp_path: Path) -> None:
    entry = {"Q_id": "Q18426", "aliases": ["Bronx"], "demonyms": ["Bronxite"]}
    path = saved(tmp_path, "a.jsonl", ROW, ROW | {"_id": "q2", "answer_id": None})
    aliases = saved(tmp_path, "id_aliases.json", entry, entry | {"Q_id": "Q1"})
    dataset = TwoWiki(path=path, aliases=aliases).load()
    with_alias, without = dataset.problems
    assert with_alias.answers == ("The Bronx", "Bronx", "Bronxite")
    assert without.answers == ("The Bronx",)
    assert TwoWiki().grade(with_alias, "Answer: a Bronxite").metrics["em"] == 1
    plain = TwoWiki(path=path).load()
    assert dataset.source.startswith(f"{plain.source} aliases:sha256:")
    assert plain.problems[0].answers == ("The Bronx",)


@pytest.mark.parametrize("entry", [[1], {"aliases": []}, {"Q_id": "Q1", "aliases": [1]}])
def test_a_malformed_alias_is_named_by_line(entry: object) -> None:
    with pytest.raises(DataError, match=r"id_aliases\.json, line 2: not an entry of aliases"):
        read_aliases("id_aliases.json", b'{"Q_id": "Q2"}\n' + orjson.dumps(entry))


def test_a_missing_alias_file_and_bad_settings_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.jsonl", ROW)
    with pytest.raises(DataError, match=r"cannot read .*absent"):
        TwoWiki(path=path, aliases=str(tmp_path / "absent.json")).load()
    with pytest.raises(ConfigError, match="any or two"):
        TwoWiki(gold="four")
    with pytest.raises(ConfigError, match="short or none"):
        TwoWiki(answer="")
