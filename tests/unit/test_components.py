"""Settings become objects: each mistake is told with what is allowed and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import pytest
import yaml

from parley import config
from parley.building import build_arm
from parley.components import affecting, build, find, plain
from parley.errors import ConfigError
from parley.types import Sampling
from shared_data import case

ME = f"{__name__}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A component with a field of every kind."""

    operational: ClassVar[frozenset[str]] = frozenset({"port"})

    thinking: bool = True
    tag: str = "x"
    count: int = 1
    ratio: float = 0.5
    size: Literal["small", "large"] = "small"
    fields: tuple[str, ...] = ("a", "b")
    api_key: str | None = None
    port: int = 1

    def __post_init__(self) -> None:
        if self.count > 100:
            raise ValueError("count must be at most 100")
        if self.count == 99:
            raise ConfigError("sample.count=99", allowed="not 99", remedy="sample.count=98")


class Plain:
    """No dataclass."""


def made(**values: Any) -> Any:
    package = ME.split(".")[0]
    return build({"_target_": f"{ME}Sample", **values}, where="sample", packages=(package,))


def refused(**values: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        made(**values)
    return caught.value


def test_a_node_becomes_its_class_with_typed_values() -> None:
    found = made(thinking=False, tag="t", count=3, ratio=1, size="large", fields=["b", "c"])
    assert found == Sample(
        thinking=False, tag="t", count=3, ratio=1.0, size="large", fields=("b", "c")
    )
    assert isinstance(found.ratio, float)


@pytest.mark.parametrize("word", ["no", "No", "off", "false", "n", 0, False])
def test_every_way_to_say_no_is_false(word: object) -> None:
    """Case E07: the string "no" would be true."""
    assert made(thinking=word).thinking is False


@pytest.mark.parametrize("number", [59, 1000.0, 3.1, 45000, True])
def test_a_text_given_as_a_number_is_refused_with_the_quotes_it_needs(number: object) -> None:
    error = refused(tag=number)
    assert f"sample.tag: Input should be a valid string (got {number!r})" in error.what
    assert "quotes" in error.remedy
    assert error.allowed == "tag: str"


def test_a_text_given_as_nothing_is_refused() -> None:
    assert "sample.tag: Input should be a valid string (got None)" in refused(tag=None).what


@pytest.mark.parametrize("text", ["1e3", "3.10", "073", "12:30:00"])
def test_a_quoted_number_is_kept_as_it_is_written(text: str) -> None:
    assert made(tag=text).tag == text


def test_the_reported_words_of_the_command_line() -> None:
    """Case E07 through Hydra: what is typed is what is meant, or it is refused."""
    given = case("E07")["input"]["cli"]
    assert {"thinking=no", "tag=1e3", "rev=3.10", "id=073", "tag=null"} == set(given)
    thinks = config.resolve(config.compose_one(["strategy.thinks=no", "engine=scripted"]))
    assert build_arm(thinks).strategy.thinks is False
    for word in ("1e3", "3.10", "null"):
        values = config.resolve(config.compose_one([f"model.label={word}"]))
        with pytest.raises(ConfigError, match="needs quotes"):
            build_arm(values)
    for word in ("073", '"073"', '"1e3"', '"3.10"'):  # as the shell hands on key='"073"'
        values = config.resolve(config.compose_one([f"model.label={word}"]))
        assert build_arm(values).model.label == word.strip('"')


def test_the_reported_words_of_yaml() -> None:
    """Case E07: what YAML makes of them is refused where a text is meant."""
    for line in case("E07")["input"]["yaml"]:
        value = next(iter(yaml.safe_load(line).values()))
        if value is False:
            assert made(thinking=value).thinking is False
        elif isinstance(value, str):  # 1e3 is a text to YAML
            assert made(tag=value).tag == "1e3"
        else:
            assert "needs quotes" in refused(tag=value).remedy


def test_an_unknown_setting_names_the_known_ones() -> None:
    error = refused(thinkign=False)
    assert error.what == "sample.thinkign: Sample has no such setting"
    assert error.allowed == "thinking, tag, count, ratio, size, fields, api_key, port"
    assert "spelling" in error.remedy


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"count": "many"}, "sample.count: Input should be a valid integer"),
        ({"count": 1.5}, "sample.count: Input should be a valid integer"),
        ({"count": True}, "sample.count: a number is needed (got True)"),
        ({"ratio": "half"}, "sample.ratio: Input should be a valid number"),
        ({"ratio": float("nan")}, "sample.ratio: a finite number is needed"),
        ({"ratio": True}, "sample.ratio: a number is needed (got True)"),
        ({"size": "medium"}, "Input should be 'small' or 'large' (got 'medium')"),
        ({"thinking": "perhaps"}, "sample.thinking: Input should be a valid boolean"),
        ({"fields": ["a", 3]}, "sample.fields.1: Input should be a valid string (got 3)"),
        ({"fields": "a"}, "sample.fields: Input should be a valid tuple"),
        ({"count": 101}, "sample: count must be at most 100"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_with_its_key(values: Any, words: str) -> None:
    error = refused(**values)
    assert words in error.what
    assert error.remedy


def test_an_error_of_ours_is_passed_on_as_it_is() -> None:
    assert refused(count=99).what == "sample.count=99"


def test_a_secret_of_the_wrong_kind_is_not_shown() -> None:
    error = refused(api_key=8675309)
    assert "8675309" not in str(error)
    assert "sample.api_key" in error.what


def test_only_parley_and_listed_packages_may_be_named() -> None:
    with pytest.raises(ConfigError) as caught:
        build({"_target_": "os.system", "command": "true"}, where="strategy")
    assert caught.value.what == "strategy._target_: 'os.system' is not in an allowed package"
    assert caught.value.allowed == "parley"
    assert caught.value.remedy == "packages=[os] allows it"
    with pytest.raises(ConfigError, match="allowed: parley, mine"):
        find("os.system", where="strategy", packages=("mine",))
    with pytest.raises(ConfigError, match="not in an allowed package"):
        find("parleyish.Thing", where="strategy")


@pytest.mark.parametrize("target", [None, 3, ["a"]])
def test_a_node_without_a_target_is_told_so(target: object) -> None:
    with pytest.raises(ConfigError, match="strategy has no _target_"):
        build({"_target_": target}, where="strategy")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("parley.strategies.full.Ful", "has no attribute 'Ful'"),
        ("parley.strategies.nope.Full", "No module named 'parley.strategies.nope'"),
        ("parley.strategies.full.fill", "is not a dataclass"),
        ("parley", "is not in an allowed package"),
    ],
)
def test_a_target_that_is_no_component_is_told_so(target: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find(target, where="strategy")
    assert words in caught.value.what


@pytest.mark.parametrize(
    ("code", "words"),
    [("def broken(:", "SyntaxError"), ("1 / 0", "ZeroDivisionError"), ("exit(3)", "SystemExit")],
)
def test_a_users_module_that_cannot_be_imported_is_told_so(
    code: str, words: str, tmp_path: Path, syspath: Any
) -> None:
    name = f"users_{words.lower()}"
    (tmp_path / f"{name}.py").write_text(f"{code}\n")
    syspath(tmp_path)
    with pytest.raises(ConfigError) as caught:
        find(f"{name}.Mine", where="strategy", packages=(name,))
    assert words in caught.value.what


@pytest.fixture
def syspath() -> Any:
    """Puts a folder on the import path for one test."""
    import sys

    before = list(sys.path)
    yield lambda folder: sys.path.insert(0, str(folder))
    sys.path[:] = before


def test_what_affects_outputs_leaves_out_what_is_operational() -> None:
    node = {"_target_": "x.Sample", "port": 9}
    assert affecting(node, Sample(port=9, fields=("z",))) == {
        "_target_": "x.Sample",
        "api_key": None,
        "count": 1,
        "fields": ["z"],
        "ratio": 0.5,
        "size": "small",
        "tag": "x",
        "thinking": True,
    }


def test_plain_values_are_those_of_json() -> None:
    nested = {"a": (1, {"b": frozenset({2})}), 3: MappingProxyType({"c": Sampling(temperature=0)})}
    found = plain(nested)
    assert found["a"] == [1, {"b": [2]}]
    assert found["3"]["c"]["temperature"] == 0
