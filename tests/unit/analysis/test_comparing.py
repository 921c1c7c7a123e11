"""Arms compared: who against whom, on which problems, and what a reader is told."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pytest

from parley.analysis.compared import probability, sections, to_markdown, to_rich, words
from parley.analysis.comparing import PAIR, Compared, compare_study, compare_two
from parley.analysis.costs import choose
from parley.analysis.frames import load, plain_rows
from parley.analysis.selecting import find, joined
from parley.analysis.tables import results
from parley.errors import ConfigError
from records import call, episode, failed, sample_episodes, turn, write_arm


def _scored(values: dict[str, float], **changes: Any) -> list[Any]:
    return [
        episode(name, metrics={"em": float(v == 1), "f1": v, "f1_squad": v}, **changes)
        for name, v in values.items()
    ]


def _study(path: Path) -> Path:
    for index, name in enumerate(("full", "pact", "summary")):
        made = sample_episodes(name, 12, score=0.3 + 0.1 * index, size=2 - 0.5 * index)
        write_arm(path / "s", name, made)
    return path / "s"


def test_a_study_against_its_baseline(tmp_path: Path) -> None:
    found = compare_study(load(_study(tmp_path)))
    assert [(row["first"], row["second"]) for row in found.pairs] == [
        ("pact", "full"),
        ("summary", "full"),
    ]
    assert {row["alpha"] for row in found.pairs} == {0.025}
    assert all(row["p"] <= row["p_holm"] <= 1 for row in found.pairs)
    assert all(row["saving_ratio_of_means"] > 0 for row in found.pairs)
    assert list(found.table().columns) == list(PAIR)


def test_means_are_those_of_the_report(tmp_path: Path) -> None:
    frames = load(_study(tmp_path))
    table = {row["label"]: row for row in plain_rows(results(frames))}
    for row in compare_study(frames).arms:
        assert row["score"] == pytest.approx(table[row["label"]]["score"])
        assert row["cost"] == pytest.approx(table[row["label"]]["tokens_total"])
    pair = compare_two(frames, "pact", "full").pairs[0]
    apart = table["pact"]["score"] - table["full"]["score"]
    assert pair["difference"] == pytest.approx(apart)
    whole = 1 - table["pact"]["tokens_total"] / table["full"]["tokens_total"]
    assert pair["saving_ratio_of_means"] == pytest.approx(whole)


def test_the_other_way_round_has_the_other_sign(tmp_path: Path) -> None:
    frames = load(_study(tmp_path))
    one = compare_two(frames, "pact", "full").pairs[0]
    two = compare_two(frames, "full", "pact").pairs[0]
    assert one["difference"] == pytest.approx(-two["difference"])
    assert one["p"] == pytest.approx(two["p"])
    assert (one["first"], one["second"]) == (two["second"], two["first"])


def test_unequal_problem_sets_are_compared_on_what_both_hold(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", _scored({"a": 1.0, "b": 0.0, "c": 1.0}))
    write_arm(tmp_path / "s", "pact", _scored({"b": 0.5, "c": 0.5, "d": 1.0, "e": 1.0}))
    found = compare_two(load(tmp_path), "pact", "full")
    row = found.pairs[0]
    assert (row["n"], row["n_first"], row["n_second"]) == (2, 4, 3)
    assert (row["score_first"], row["score_second"]) == (0.5, 0.5)
    assert "pact holds 4 problems, full 3: compared on the 2 that both hold." in found.notes


def test_a_failed_episode_counts_with_zero(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", _scored({"a": 1.0, "b": 1.0}))
    write_arm(tmp_path / "s", "pact", [*_scored({"a": 1.0}), failed("b")])
    found = compare_study(load(tmp_path))
    row = found.pairs[0]
    assert (row["n"], row["score_first"], row["errors_first"]) == (2, 0.5, 1)
    assert any("pact: 1 failed episodes count as 0" in note for note in found.notes)


def test_truncation_stands_beside_every_score(tmp_path: Path) -> None:
    cut = _scored({"b": 0.0}, turns=(turn(0, call(finish="length")),))
    write_arm(tmp_path / "s", "full", _scored({"a": 1.0, "b": 1.0}))
    write_arm(tmp_path / "s", "pact", [*_scored({"a": 1.0}), *cut])
    found = compare_study(load(tmp_path))
    assert (found.pairs[0]["truncated_first"], found.pairs[0]["truncated_second"]) == (0.5, 0.0)
    heads, rows = sections(found)["Each arm alone (F1)"]
    assert {row[0]: row[heads.index("truncated")] for row in rows} == {
        "full": "0.0%",
        "pact": "50.0%",
    }


def test_samples_of_a_problem_are_one_observation(tmp_path: Path) -> None:
    four = [e for n in range(4) for e in _scored({"a": float(n > 0), "b": 0.0}, sample=n)]
    write_arm(tmp_path / "s", "full", four, samples=4)
    write_arm(tmp_path / "s", "pact", _scored({"a": 0.0, "b": 1.0}))
    row = compare_two(load(tmp_path), "full", "pact", metric="em").pairs[0]
    assert (row["n"], row["score_first"], row["difference"]) == (2, 0.375, -0.125)
    assert row["test"].startswith("sign flips")
    alone = {r["label"]: r for r in compare_study(load(tmp_path), metric="em").arms}
    assert alone["full"]["method"] != "Wilson"
    assert alone["pact"]["method"] == "Wilson"


def test_a_score_that_is_not_a_number_is_told(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", _scored({"a": 1.0, "b": 0.0}))
    write_arm(tmp_path / "s", "pact", _scored({"a": math.nan, "b": 0.0}))
    found = compare_study(load(tmp_path))
    assert math.isnan(found.pairs[0]["difference"])
    assert "pact: f1 is not a number on 1 problem." in found.notes
    assert "cannot be compared" in words(found)[0]


def test_a_study_without_full_is_compared_with_the_dearest(tmp_path: Path) -> None:
    for name, size in (("a", 1.0), ("b", 3.0), ("c", 2.0)):
        write_arm(tmp_path / "s", name, sample_episodes(name, 5, size=size))
    found = compare_study(load(tmp_path))
    assert {row["second"] for row in found.pairs} == {"b"}
    assert any("compared with the dearest, b" in note for note in found.notes)
    assert {r["second"] for r in compare_study(load(tmp_path), baseline="c").pairs} == {"c"}


def test_one_arm_and_none_are_said(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 5))
    write_arm(tmp_path / "s", "pact", [], problems=5)
    found = compare_study(load(tmp_path))
    assert found.pairs == ()
    assert len(found.arms) == 2
    assert "full: one arm, there is nothing to compare it with." in found.notes
    assert "pact: not compared, no episode that has the score." in found.notes
    assert to_markdown(found).startswith("# s: arms compared")


def test_models_are_compared_each_with_its_own_baseline(tmp_path: Path) -> None:
    for model in ("m8", "m14"):
        for name in ("full", "pact"):
            write_arm(
                tmp_path / "s",
                f"{name}-{model}",
                sample_episodes(f"{name}{model}", 6),
                strategy=name,
                model=model,
            )
    frames = load(tmp_path)
    for found in (compare_study(frames), compare_two(frames, "pact", "full")):
        assert sorted(row["model"] for row in found.pairs) == ["m14", "m8"]
        assert {row["alpha"] for row in found.pairs} == {0.025}
        assert "m14" in words(found)[0] + words(found)[1]
    across = compare_two(frames, "pact-m8", "pact-m14")
    assert "the arms differ in model: m8 and m14." in across.notes


def test_two_folders_are_joined(tmp_path: Path) -> None:
    one = write_arm(tmp_path / "s", "full", sample_episodes("full", 5))
    two = write_arm(tmp_path / "t", "pact", sample_episodes("pact", 5))
    frames = joined(load(one), load(two))
    assert len(frames.arms) == 2
    assert compare_two(frames, "full", "pact").pairs[0]["n"] == 5
    assert len(joined(load(one), load(one)).arms) == 1


def test_names_that_fit_none_or_several_are_refused(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_arm(
            tmp_path / "s", f"full-{seed}", sample_episodes("f", 3), strategy="full", seed=seed
        )
    frames = load(tmp_path)
    assert find(frames, "seed 2") == [1]
    for name in ("full", "absent"):
        with pytest.raises(ConfigError, match="no single arm"):
            find(frames, name)
    with pytest.raises(ConfigError, match="same arm"):
        compare_two(frames, "seed 1", "full-1")
    with pytest.raises(ConfigError, match="a metric 'bleu'"):
        compare_study(frames, metric="bleu")
    assert "dearest" in " ".join(compare_study(frames).notes)


def test_nothing_in_common_is_refused(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", _scored({"a": 1.0}))
    write_arm(tmp_path / "s", "pact", _scored({"b": 1.0}))
    with pytest.raises(ConfigError, match="no problem in common"):
        compare_two(load(tmp_path), "full", "pact")
    found = compare_study(load(tmp_path))
    assert found.pairs[0]["n"] == 0
    assert "cannot be compared" in words(found)[0]


def test_words_say_all_that_matters(tmp_path: Path) -> None:
    frames = load(_study(tmp_path))
    said = words(compare_two(frames, "pact", "full"))[0]
    assert said.startswith("pact vs full: F1 +0.")
    for part in ("p (Holm)", "this n (12) could have shown 0.", "ratio of means", "mean of ratios"):
        assert part in said
    assert "% less [" in said
    assert "% more [" in words(compare_two(frames, "full", "pact"))[0]
    other = words(compare_two(frames, "pact", "full", cost=choose("latency")))[0]
    assert "In seconds it costs 0.0% less" in other


def test_few_problems_that_differ_are_pointed_out(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", _scored({"a": 1.0, "b": 0.0, "c": 1.0}))
    write_arm(tmp_path / "s", "pact", _scored({"a": 0.0, "b": 0.0, "c": 1.0}))
    assert "differ on 1 problem: " in " ".join(compare_study(load(tmp_path)).notes)


def test_the_same_records_give_the_same_text(tmp_path: Path) -> None:
    frames = load(_study(tmp_path))
    assert to_markdown(compare_study(frames)) == to_markdown(compare_study(frames))
    assert to_markdown(compare_study(frames)) != to_markdown(compare_study(frames, seed=1))


def test_every_table_is_whole(tmp_path: Path) -> None:
    from rich.console import Console

    found: Compared = compare_study(load(_study(tmp_path)))
    for heads, rows in sections(found).values():
        assert all(len(row) == len(heads) for row in rows)
    console = Console(width=132, record=True, file=io.StringIO())
    console.print(to_rich(found))
    shown = console.export_text()
    assert "…" not in shown
    assert "sign flips, exact" in shown


@pytest.mark.parametrize(
    ("value", "said"), [(0.0001, "<0.001"), (0.0123, "0.012"), (0.456, "0.46"), (math.nan, "-")]
)
def test_probabilities_as_papers_print_them(value: float, said: str) -> None:
    assert probability(value) == said
