"""Published figures beside measured ones: what belongs together, and what is said of it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from parley.analysis.against import Comparison, compare
from parley.analysis.against_tables import against_csv, against_markdown, against_rich
from parley.analysis.frames import load
from parley.analysis.publications import publication
from parley.analysis.tables import results
from parley.types import Episode
from records import call, episode, sample_episodes, turn, write_arm

PAPER = publication("paper")
ALL = ("Action", "State", "Result")


def _identity(topology: str, strategy: str, /, **changes: dict[str, Any]) -> dict[str, Any]:
    """As a manifest of a real run has it, as far as a comparison reads it."""
    parts: dict[str, dict[str, Any]] = {
        "topology": {
            "_target_": f"parley.topologies.{topology}.T",
            "turns": 4,
            "early_exit": False,
        },
        "strategy": {"_target_": f"parley.strategies.{strategy}.S", "answer_thinks": True},
        "channel": {"_target_": "parley.channels.identity.Identity"},
        "model": {"name": "Qwen/Qwen3-8B"},
        "sampling": {"temperature": 0.6, "top_p": 0.95, "max_tokens": 4096},
    }
    for name, change in changes.items():
        parts[name] = {**parts[name], **change}
    return {"identity": parts, "label": strategy}


def _arm(
    study: Path,
    name: str,
    *,
    fields: Sequence[str] = ALL,
    made: Sequence[Episode] | None = None,
    identity: dict[str, dict[str, Any]] | None = None,
    **choices: Any,
) -> None:
    """A PACT arm as the paper's experiments have it."""
    changes = {"strategy": {"fields": list(fields)}, **(identity or {})}
    chosen = {"benchmark": "hotpotqa", "model": "qwen3-8b", "shots": 0, "answer": "none"}
    strategy = "pact" if tuple(fields) == ALL else f"pact(fields={'+'.join(fields)})"
    write_arm(
        study,
        name,
        sample_episodes(name, 5) if made is None else made,
        **{"strategy": strategy, "engine": "vllm", "metric": "f1_squad", **chosen, **choices},
        manifest=_identity("split_evidence", "pact", **changes),
        problems=5,
    )


def _compared(path: Path) -> Comparison:
    frames = load(path)
    return compare(frames, results(frames), PAPER)


def _printed(comparison: Comparison, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(against_rich(comparison, width=width))
    return console.export_text()


def test_arms_meet_the_rows_of_their_own_fields(tmp_path: Path) -> None:
    _arm(tmp_path / "s", "asr")
    # The order of fields in YAML does not matter.
    _arm(tmp_path / "s", "sr", fields=("Result", "State"))
    found = _compared(tmp_path)
    assert found.matched
    assert {row["match"] for row in found.rows} == {"same"}
    assert [(r["folder"], r["method"], r["metric"], r["published"]) for r in found.rows] == [
        ("asr", "PACT, Action+State+Result", "f1_squad", 69.9),
        ("asr", "PACT, Action+State+Result", "tokens_total", 6704),
        ("sr", "PACT, State+Result", "f1_squad", 64.9),
        ("sr", "PACT, State+Result", "tokens_total", 6826),
    ]
    table = results(load(tmp_path)).set_index("arm")
    f1, tokens = found.rows[:2]
    assert f1["measured"] == pytest.approx(100 * float(table["f1_squad"]["asr"]))
    assert f1["measured_low"] < f1["measured"] < f1["measured_high"]
    assert f1["difference"] == pytest.approx(f1["measured"] - 69.9)
    assert math.isnan(f1["difference_percent"])
    assert tokens["measured"] == pytest.approx(float(table["tokens_total"]["asr"]))
    assert tokens["difference_percent"] == pytest.approx(100 * (tokens["measured"] / 6704 - 1))
    assert found.alone == ()
    assert found.unused["PACT, Table 3"] == 2
    assert sum(found.unused.values()) == len(PAPER.rows) - 2


def test_a_model_is_known_by_its_label_or_its_name(tmp_path: Path) -> None:
    _arm(tmp_path / "s", "label", model="mine")
    _arm(tmp_path / "t", "name", model="Qwen3_8B(context=9000)", identity={"model": {"name": "x"}})
    for study in ("s", "t"):
        assert _compared(tmp_path / study).matched


def test_single_agents_and_textmas_meet_latentmas(tmp_path: Path) -> None:
    right = [episode(f"p{i}", metrics={"accuracy": float(i % 2)}) for i in range(4)]
    accuracy: dict[str, Any] = {"metrics": ("accuracy",), "metric": "accuracy", "shots": 0}
    for name, topology, strategy in (("a", "single", "pact"), ("b", "pipeline", "full")):
        write_arm(
            tmp_path / "s",
            name,
            right,
            **accuracy,
            benchmark="aime2024",
            model="qwen3-8b",
            topology=topology,
            strategy=strategy,
            manifest=_identity(topology, strategy),
        )
    found = _compared(tmp_path)
    assert [(row["folder"], row["metric"], row["published"]) for row in found.rows] == [
        ("a", "accuracy", 50.0),
        ("a", "tokens_output", 12891),
        ("a", "accuracy", 83.3),
        ("b", "accuracy", 53.3),
        ("b", "tokens_output", 38596),
        ("b", "accuracy", 73.3),
    ]
    told = "\n".join(found.caveats)
    assert "20,000 there, 4,096 here" in told
    assert "32,768 there, 4,096 here" in told
    assert "generated tokens are counted there, prompts are not" in told
    assert "means of 3 runs there; samples of a problem here: 1" in told
    assert "tokenise the decoded outputs" not in told
    assert "paragraphs" not in told


def test_a_channel_is_never_set_beside_the_plain_arm(tmp_path: Path) -> None:
    for action in ("hidden", "sent"):
        channel = {"_target_": "parley.channels.quarantine.Quarantine", "action": action}
        _arm(
            tmp_path / "s",
            action,
            model="qwen2.5-14b-instruct",
            channel="quarantine",
            identity={"channel": channel, "model": {"name": "x"}},
        )
    found = _compared(tmp_path)
    assert {(r["folder"], r["method"], r["published"]) for r in found.rows} == {
        ("hidden", "Action hidden", 59),
        ("sent", "Action as sent", 52),
    }
    assert any("replayed" in text for text in found.caveats)


@pytest.mark.parametrize(
    ("identity", "choices"),
    [
        ({"topology": {"authority": "sender"}}, {}),
        ({"topology": {"receiver_evidence": "all"}}, {}),
        ({"strategy": {"structured": True}}, {}),
        ({"strategy": {"serialisation": "compact"}}, {}),
        ({"strategy": {"answer_thinks": False}}, {}),
        ({}, {"budget": "textmas"}),
        ({}, {"replay": "pact turn 2"}),
    ],
)
def test_an_arm_run_in_another_way_is_not_the_published_one(
    tmp_path: Path, identity: dict[str, dict[str, Any]], choices: dict[str, Any]
) -> None:
    """What a row does not say it was run with goes without saying there, and not here."""
    strategy = {"fields": list(ALL), **identity.get("strategy", {})}
    _arm(tmp_path / "s", "arm", identity={**identity, "strategy": strategy}, **choices)
    compared = _compared(tmp_path)
    assert not compared.matched
    assert {row["match"] for row in compared.rows} == {"other settings"}
    assert all(math.isnan(row["difference"]) for row in compared.rows)


def test_only_the_reasons_that_apply_are_given(tmp_path: Path) -> None:
    _arm(tmp_path / "plain", "asr")
    plain = "\n".join(_compared(tmp_path / "plain").caveats)
    for word in (
        "worded by Parley",
        "how many is not said there; 5 here",
        "tokenise",
        "paragraphs",
    ):
        assert word in plain
    for word in ("shots", "worked examples in each", "`answer`", "turns", "cut short", "llama.cpp"):
        assert word not in plain
    cut = [
        episode(f"p{i}", turns=(turn(0, call(finish="length", estimated=True)),)) for i in range(3)
    ]
    _arm(
        tmp_path / "other",
        "asr",
        made=cut,
        shots=2,
        answer="short",
        engine="llamacpp",
        seed=7,
        metric="f1",
        identity={
            "topology": {"turns": 8, "early_exit": True},
            "sampling": {"temperature": 0.0, "max_tokens": 64},
        },
    )
    other = "\n".join(_compared(tmp_path / "other").caveats)
    for words in (
        "worked examples in each prompt: 0 there, 2 here",
        "none there, short here",
        "turns: 4 there, 8 here",
        "exchange: no there, yes here",
        "temperature: 0.6 there, 0.0 here",
        "flip: 4,096 there, 64 here",
        "100% of the measured episodes have a call that was cut short",
        "Tokens of 100% of the measured episodes are partly estimated",
        "2 planned episodes are missing",
        "llama.cpp",
        "F1 is compared by SQuAD's rules",
    ):
        assert words in other, words


def test_a_reason_names_its_arms_unless_all_share_it(tmp_path: Path) -> None:
    _arm(tmp_path / "s", "asr")
    _arm(tmp_path / "s", "r", fields=("Result",), shots=2)
    found = _compared(tmp_path)
    shots = next(text for text in found.caveats if "worked examples in each" in text)
    assert shots.endswith("(pact · shots 2)") or "Result" in shots
    assert not next(text for text in found.caveats if "worded" in text).endswith(")")


def test_without_official_f1_squad_the_rule_on_yes_and_no_is_said(tmp_path: Path) -> None:
    _arm(tmp_path / "s", "asr", metrics=("em", "f1"), metric="f1")
    found = _compared(tmp_path)
    assert found.rows[0]["measured_as"] == "f1"
    assert any("no rule on yes and no" in text for text in found.caveats)


def test_nothing_matches_a_small_models_study(tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(
            tmp_path / "s",
            name,
            sample_episodes(name, 3),
            manifest=_identity("split_evidence", name, model={"name": "package:x"}),
        )
    found = _compared(tmp_path)
    assert not found.matched
    assert found.caveats == ()
    assert set(found.alone) == {"full", "pact"}
    assert {row["arm"] for row in found.rows} == {"pact"}
    assert {row["table"] for row in found.rows} == {
        "PACT, Table 3",
        "AgentCommReliability, reproduction",
    }
    assert all("other model" in row["match"] for row in found.rows)
    assert all(math.isnan(row["difference"]) for row in found.rows)
    for text in (against_markdown("s", found), _printed(found, 160), _printed(found, 80)):
        said = " ".join(text.split())
        assert "No arm of this study has a published counterpart" in said
        assert "other benchmark hotpotqa, other model qwen3-8b" in said
        assert ", ".join(found.alone) in said


def test_the_nearest_row_is_of_the_same_benchmark_if_there_is_one(tmp_path: Path) -> None:
    _arm(tmp_path / "s", "a", model="qwen3-32b", identity={"model": {"name": "Qwen/Qwen3-32B"}})
    found = _compared(tmp_path)
    assert {row["match"] for row in found.rows} == {"other model"}
    _arm(tmp_path / "t", "as", fields=("Action", "State"))
    assert {row["match"] for row in _compared(tmp_path / "t").rows} == {"other settings"}


@pytest.mark.parametrize(
    "made", [[], [episode("p1", metrics={"em": 1.0, "f1_squad": float("nan")})]]
)
def test_an_arm_without_a_number_stays_in_the_table(tmp_path: Path, made: list[Episode]) -> None:
    _arm(tmp_path / "s", "asr", made=made)
    found = _compared(tmp_path)
    assert [row["metric"] for row in found.rows] == ["f1_squad", "tokens_total"]
    assert math.isnan(found.rows[0]["measured"])
    assert "measured none" in _printed(found, 80)
    assert "| none |" in against_markdown("s", found)
    assert next(csv.DictReader(io.StringIO(against_csv(found))))["measured"] == ""


def test_all_forms_hold_the_same_numbers(tmp_path: Path) -> None:
    _arm(tmp_path / "s", "asr")
    found = _compared(tmp_path)
    rows = list(csv.DictReader(io.StringIO(against_csv(found))))
    assert [row["published"] for row in rows] == ["69.9", "6704.0"]
    assert rows[0]["confidence"] == "A"
    assert rows[0]["truncated"] == "0.0"
    assert "2606.05304" in rows[0]["source"]
    measured = f"{found.rows[0]['measured']:.1f}"
    for text in (against_markdown("s", found), _printed(found, 160), _printed(found, 60)):
        assert "69.9" in text
        assert measured in text
        assert "trunc." in text
        assert "Why they may not be comparable" in text
        assert "64: 3 of PACT, Table 3" in text or "65: 3 of PACT, Table 3" in text
    assert max(len(line.rstrip()) for line in _printed(found, 60).splitlines()) <= 60


def test_no_arm_at_all(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "config.yaml").write_text("a: 1\n")
    found = _compared(tmp_path)
    assert found.rows == ()
    assert "No arm" in against_markdown("s", found)
    assert against_csv(found).startswith("study,arm,")
