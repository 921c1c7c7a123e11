"""From composed values to an arm: its readable names, its folder, and what identifies it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parley import config
from parley.arm import Arm, fingerprint, with_data
from parley.building import available, build_arm, build_tracker, share, texts, whole
from parley.errors import ConfigError

MINE = """\
from dataclasses import dataclass
from typing import ClassVar

from parley.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class {name}:
    thinks: ClassVar[bool] = True
    answer_thinks: ClassVar[bool] = True
    max_asks: ClassVar[int] = 0
    schema: ClassVar[None] = None

    words: int = 5

    def instruct(self, cue):
        return "Write {text}."

    def project(self, draft):
        return Message(text=draft.outputs[0].visible[: self.words])

    def example(self, demo, cue):
        return demo.fact
"""


def values(*overrides: str) -> dict[str, Any]:
    return config.resolve(config.compose_one(["engine=scripted", *overrides]))


def arm(*overrides: str) -> Arm:
    return build_arm(values(*overrides))


def refused(*overrides: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        arm(*overrides)
    return caught.value


@pytest.fixture
def user_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of a user's own on the import path: a package beside its YAML."""
    (tmp_path / "conf" / "strategy").mkdir(parents=True)
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))


def own(folder: Path, name: str, text: str = "something") -> list[str]:
    """A user's strategy in a module of its own, and the overrides that choose it."""
    module = name.lower()
    (folder / f"{module}.py").write_text(MINE.format(name=name, text=text))
    yaml = f"_target_: {module}.{name}\nwords: 7\n"
    (folder / "conf" / "strategy" / f"{module}.yaml").write_text(yaml)
    return [f"strategy={module}", f"packages=[{module}]"]


def own_arm(folder: Path, *overrides: str) -> Arm:
    composed = config.compose_one(["engine=scripted", *overrides], [folder / "conf"])
    return build_arm(config.resolve(composed))


def test_an_arm_is_named_by_its_choices() -> None:
    made = arm("strategy=pact", "model=qwen3-8b", "study=mine", "seed=7")
    assert (made.study, made.label, made.seed) == ("mine", "pact", 7)
    assert made.choices == {
        "benchmark": "fictional",
        "topology": "split_evidence",
        "strategy": "pact",
        "channel": "identity",
        "model": "qwen3-8b",
        "engine": "scripted",
        "sampling": "model",
        "seed": 7,
        "shots": 0,
        "answer": "short",
    }
    assert made.name == f"fictional-split_evidence-pact-qwen3-8b-{made.fingerprint}"


def test_a_folder_tells_its_channel_and_needs_no_quotes() -> None:
    heard = arm("strategy=pact", "strategy.fields=[State,Result]", "channel=no_message")
    parts = "fictional-split_evidence-pact+fields=State+Result-no_message-smollm2-135m"
    assert heard.name == f"{parts}-{heard.fingerprint}"
    assert shlex.quote(heard.name) == heard.name
    assert len(heard.fingerprint) == 8
    int(heard.fingerprint, 16)


@pytest.mark.parametrize(
    ("overrides", "part", "name"),
    [
        (
            ["strategy=conclusion", "strategy.portion=final"],
            "strategy",
            "conclusion(portion=final)",
        ),
        (["strategy=pact", "strategy.fields=[Action]"], "strategy", "pact(fields=Action)"),
        (
            ["strategy=pact", "strategy.fields=[Action,State]", "strategy.answer_thinks=no"],
            "strategy",
            "pact(fields=Action+State,answer_thinks=false)",
        ),
        (["strategy.answer_thinks=yes"], "strategy", "full"),
        (["topology.turns=6"], "topology", "split_evidence(turns=6)"),
        (["benchmark.distractors=4"], "benchmark", "fictional(distractors=4)"),
        # One is not true and nought is not false.
        (["benchmark.distractors=1"], "benchmark", "fictional(distractors=1)"),
        (["benchmark.distractors=0"], "benchmark", "fictional(distractors=0)"),
        (
            ["engine=vllm", "engine.args.enforce_eager=true", "engine.args.max_num_seqs=8"],
            "engine",
            "vllm(args=enforce_eager_true+max_num_seqs_8)",
        ),
        (["benchmark.problems=9"], "benchmark", "fictional"),
        (["answer=none"], "benchmark", "fictional"),
        (["model.context=4096"], "model", "smollm2-135m(context=4096)"),
        (["model.label=mine"], "model", "mine"),
        (["sampling.temperature=0.9"], "sampling", "model(temperature=0.9)"),
        (["model=qwen3-8b", "sampling=greedy"], "sampling", "greedy"),
        (["sampling=greedy", "sampling.max_tokens=9"], "sampling", "greedy(max_tokens=9)"),
        (["engine.latency_s=1"], "engine", "scripted"),
    ],
)
def test_changed_settings_stand_in_the_name(overrides: list[str], part: str, name: str) -> None:
    assert arm(*overrides).choices[part] == name


def test_a_schema_that_the_server_would_ignore_is_refused() -> None:
    words = ("strategy=pact", "strategy.structured=true", "model=qwen3-8b")
    error = refused(*words, "engine=transformers")
    assert "engine=transformers" in str(error)
    assert "strategy.structured=false" in str(error)
    assert arm(*words, "engine=vllm").strategy.schema


@pytest.mark.parametrize(
    ("overrides", "label"),
    [
        (["arm=textmas"], "textmas"),
        (["arm=pact_pipeline"], "pact_pipeline"),
        (["arm=textmas", "strategy=pact"], "pact"),
        (["arm=textmas", "topology=pipeline"], "full"),
        (["arm=textmas", "strategy.thinks=false"], "textmas(thinks=false)"),
        (["arm=debate", "topology.rounds=1"], "debate(rounds=1)"),
        (
            ["arm=pact_pipeline", "strategy.serialisation=explicit"],
            "pact_pipeline(serialisation=explicit)",
        ),
        (["arm=no_message"], "no_message"),
        (["arm=no_message", "channel=identity"], "pact"),
        (["arm=textmas", "channel=no_message"], "full"),
        (["arm=sender_authority"], "sender_authority"),
        (["strategy=pact", "strategy.fields=[Result]"], "pact(fields=Result)"),
    ],
)
def test_an_arm_goes_by_the_name_that_it_was_chosen_by(overrides: list[str], label: str) -> None:
    made = arm(*overrides, "shots=0")
    assert made.label == label


def test_the_same_setting_written_otherwise_is_the_same_arm() -> None:
    names = {arm(f"strategy.thinks={word}").name for word in ("no", "false", "off", "False")}
    assert len(names) == 1
    assert arm("sampling.temperature=1").name == arm("sampling.temperature=1.0").name


@pytest.mark.parametrize(
    "override",
    [
        "limit=5",
        "limit=null",
        "samples=3",
        "concurrency=9",
        "limit_seed=1",
        "max_error_rate=1",
        "outputs=elsewhere",
        "study=other",
        "engine.latency_s=0.5",
        "engine.fail_every=3",
        "benchmark.problems=9",
    ],
)
def test_what_changes_no_output_keeps_the_arm(override: str) -> None:
    assert arm(override).name == arm().name


@pytest.mark.parametrize(
    "override",
    [
        "seed=43",
        "shots=1",
        "answer=none",
        "strategy.thinks=false",
        "topology.turns=6",
        "benchmark.distractors=4",
        "benchmark.seed=43",
        "model.context=4096",
        "model.revision=abc",
        "sampling.temperature=0.9",
        "sampling.max_tokens=95",
        "engine.answers=[yes]",
    ],
)
def test_what_changes_an_output_makes_another_arm(override: str) -> None:
    assert arm(override).fingerprint != arm().fingerprint


def test_the_data_are_part_of_the_identity() -> None:
    one, two = (with_data(arm(), source) for source in ("file:abc", "file:def"))
    assert one.identity["data"] == "file:abc"
    assert one.fingerprint != two.fingerprint


def test_the_words_of_the_prompts_are_part_of_the_identity(user_folder: Path) -> None:
    first = own_arm(user_folder, *own(user_folder, "First", text="something"))
    other = own_arm(user_folder, *own(user_folder, "Other", text="something else"))
    assert first.identity["prompts"] != other.identity["prompts"]
    assert (
        first.identity["prompts"]
        == own_arm(user_folder, "strategy=first", "packages=[first]").identity["prompts"]
    )


def test_an_edit_of_a_users_code_makes_another_arm(user_folder: Path) -> None:
    """The projection changes, and no prompt does."""
    overrides = own(user_folder, "Edited")
    before = own_arm(user_folder, *overrides)
    path = user_folder / "edited.py"
    path.write_text(path.read_text().replace("[: self.words]", "[-self.words :]"))
    after = own_arm(user_folder, *overrides)
    assert before.identity["prompts"] == after.identity["prompts"]
    assert set(before.identity["code"]) == {"edited"}
    assert before.fingerprint != after.fingerprint


def test_a_users_yaml_is_the_base_of_its_names(user_folder: Path) -> None:
    overrides = own(user_folder, "Brief")
    assert own_arm(user_folder, *overrides).label == "brief"
    changed = own_arm(user_folder, *overrides, "strategy.words=3")
    assert changed.label == "brief(words=3)"
    assert "config_folders" not in changed.config


def test_a_users_package_must_be_listed(user_folder: Path) -> None:
    overrides = own(user_folder, "Unlisted")
    with pytest.raises(ConfigError, match=r"packages=\[unlisted\] allows it"):
        own_arm(user_folder, overrides[0])
    assert own_arm(user_folder, overrides[0], "packages=unlisted").label == "unlisted"


def test_a_strategy_that_cannot_instruct_is_refused_before_anything_is_spent(
    user_folder: Path,
) -> None:
    overrides = own(user_folder, "Faulty")
    path = user_folder / "faulty.py"
    path.write_text(path.read_text().replace('return "Write', 'return cue.nothing or "Write'))
    with pytest.raises(ConfigError, match="has no attribute 'nothing'"):
        own_arm(user_folder, *overrides)


@pytest.mark.parametrize(
    ("override", "words", "allowed"),
    [
        ("limit=abc", "limit='abc'", "a whole number from 1 on"),
        ("limit=0", "limit=0", "a whole number from 1 on"),
        ("samples=1.5", "samples=1.5", "a whole number from 1 on"),
        ("samples=true", "samples=True", "a whole number from 1 on"),
        ("seed=-1", "seed=-1", "a whole number from 0 on"),
        ("seed=null", "seed=None", "a whole number from 0 on"),
        ("study=1e3", "study=1000.0", "letters, digits"),
        ("study=../up", "study='../up'", "letters, digits"),
        ("folder=../up", "folder='../up'", "letters, digits"),
        ("folder=5", "folder=5", "letters, digits"),
        ("packages=[1]", "packages=[1]", "a list"),
        ("answer=long", "answer", "short"),
        ("+strategy.wrods=3", "strategy.wrods: Full has no such setting", "thinks"),
        ("+stratgy=pact", "stratgy: a study has no such setting", "strategy, channel"),
    ],
)
def test_a_bad_setting_is_told_with_what_is_allowed(
    override: str, words: str, allowed: str
) -> None:
    error = refused(override)
    assert words in error.what
    assert allowed in error.allowed
    assert error.remedy


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("shots=99", "the worked examples there are for this topology"),
        ("strategy=null", "Config group override must be a string"),
        ("packages={a:1}", "Error merging override packages={a:1}"),
        ("strategy=fll", "allowed: artifact, concise, conclusion, full, pact, summary"),
        ("strategy=fll", "did you mean 'full'?"),
        ("stratgy=full", "did you mean 'strategy'?"),
        ("strategy.thinsk=no", "allowed: thinks, answer_thinks"),
        ("strategy.thinsk=no", "did you mean 'thinks'?"),
        ("strategy=[", "no viable alternative at input"),
        ("benchmark=jsonl benchmark.path=${", "Error parsing override"),
        ("answer=${nowhere}", "Interpolation key 'nowhere' not found"),
        ("seed=???", "Missing mandatory value"),
    ],
)
def test_what_hydra_refuses_is_told_in_our_way(override: str, words: str) -> None:
    text = str(refused(*override.split()))
    assert words in text
    assert "next:" in text
    for noise in ("hydra.cc", "Config search path", "object_type", "To append", "not in struct"):
        assert noise not in text


def test_names_of_ones_own_start_with_an_underscore() -> None:
    assert arm("+_turns=6", "topology.turns=${_turns}").choices["topology"].endswith("(turns=6)")  # type: ignore[union-attr]


def test_a_folder_may_be_named() -> None:
    assert arm("folder=mine").name == "mine"


def test_the_kept_config_holds_no_secret() -> None:
    made = arm("engine=remote", "engine.api_key=abc123", "engine.urls=[http://me:pw@host]")
    assert made.config["engine"]["api_key"] == "[redacted]"
    assert made.config["engine"]["urls"] == ["http://[redacted]@host"]
    assert made.engine.api_key == "abc123"  # type: ignore[attr-defined]
    assert "abc123" not in str((made.config, made.identity, made.choices))


def test_numbers_shares_and_texts() -> None:
    given = {"samples": 3, "rate": 1, "half": 0.5, "one": "a", "two": ["a", "b"], "none": None}
    assert whole(given, "samples") == 3
    assert (share(given, "rate"), share(given, "half")) == (1.0, 0.5)
    assert (texts(given, "one"), texts(given, "two")) == (("a",), ("a", "b"))
    assert texts(given, "none") == ()
    for bad in (-0.1, 2, "x", True, None):
        with pytest.raises(ConfigError, match="from 0 to 1"):
            share({"rate": bad}, "rate")
    for wrong in (3, [3], [""]):
        with pytest.raises(ConfigError, match="a list"):
            texts({"reuse": wrong}, "reuse")


def test_a_fingerprint_does_not_depend_on_the_order_of_keys() -> None:
    assert fingerprint({"a": 1, "b": {"c": 2, "d": 3}}) == fingerprint(
        {"b": {"d": 3, "c": 2}, "a": 1}
    )
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})


def test_the_tracker_learns_whether_there_is_a_key(tmp_path: Path) -> None:
    told = values("tracker=wandb", "tracker.mode=auto")
    without = build_tracker(told, environment={}, home=tmp_path)
    with_key = build_tracker(told, environment={"WANDB_API_KEY": "x" * 40}, home=tmp_path)
    assert without.state["status"] == "offline"
    assert with_key.state["status"] == "online"
    assert "x" * 40 not in str(with_key.state)


def test_the_choices_that_ship() -> None:
    assert {"full", "concise", "conclusion", "summary", "artifact", "pact"} <= set(
        available("strategy")
    )


def test_two_arms_of_other_names_are_equal_in_nothing_else() -> None:
    """The folder's name alone does not make another arm."""
    assert replace(arm(), folder_name="x").fingerprint == arm().fingerprint


def test_limits_follow_the_benchmark_and_give_way_to_the_command_line() -> None:
    tokens = {
        name: arm("limits=latentmas", f"benchmark={name}").sampling.max_tokens
        for name in ("aime2024", "aime2025", "gpqa_diamond", "openbookqa", "hotpotqa")
    }
    assert list(tokens.values()) == [20000, 20000, 8192, 2048, 4096]
    assert arm("limits=model_card", "benchmark=aime2025").sampling.max_tokens == 38912
    assert arm("limits=model_card").sampling.max_tokens == 32768
    assert arm("limits=latentmas", "sampling.max_tokens=9").sampling.max_tokens == 9


def test_the_leading_metric_is_one_of_the_benchmark_and_makes_no_other_arm() -> None:
    assert arm().metric == ""
    assert arm("metric=f1_squad").metric == "f1_squad"
    assert arm("metric=f1_squad").name == arm().name
    assert "f1_squad" in (refused("metric=accuracy").allowed or "")


def test_local_copies_are_found_by_the_benchmarks_name(tmp_path: Path) -> None:
    (tmp_path / "hotpotqa.json").write_text("[]")
    (tmp_path / "hotpotqa.txt").write_text("")
    found = arm("benchmark=hotpotqa", f"data={tmp_path}")
    assert found.benchmark.path == str(tmp_path / "hotpotqa.json")  # type: ignore[attr-defined]
    assert found.name == arm("benchmark=hotpotqa").name
    own = arm("benchmark=hotpotqa", f"data={tmp_path}", "benchmark.path=mine.json")
    assert own.benchmark.path == "mine.json"  # type: ignore[attr-defined]
    assert arm(f"data={tmp_path}").choices["benchmark"] == "fictional"
    assert "two_wiki.jsonl" in (refused("benchmark=two_wiki", f"data={tmp_path}").allowed or "")


def test_a_model_in_a_folder_is_named_by_the_folder_alone() -> None:
    named = arm("model=qwen3-8b", "model.name=/home/someone/models/mine-8b").choices["model"]
    assert named == "qwen3-8b(name=mine-8b)"
    assert arm("model=qwen3-8b", "model.name=/models/qwen3-8b").choices["model"] == "qwen3-8b"
    assert arm("model=qwen3-8b", "model.name=Qwen/Other").choices["model"].endswith("Qwen_Other)")  # type: ignore[union-attr]
