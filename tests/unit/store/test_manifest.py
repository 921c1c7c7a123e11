"""An arm's manifest, and what may change between two runs of an arm."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import MappingProxyType

import orjson
import pytest

from parley.errors import StoreError
from parley.store.manifest import Manifest, read_manifest, resumed, write_manifest
from parley.types import VERSION
from store_cases import manifest


def test_round_trip(tmp_path: Path) -> None:
    written = manifest(identity=MappingProxyType({"a": {"b": [1, None, 0.5]}}), status="finished")
    write_manifest(tmp_path, written)
    assert read_manifest(tmp_path) == dataclasses.replace(written, identity=dict(written.identity))
    assert written.to_dict()["metrics"] == ["em", "f1"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b"{}", "lacks study, arm"),
        (b'{"choices": 3}', "'choices' is not a JSON object"),
        (b'{"metrics": 0.5}', "'metrics' are not all texts"),
        (b'{"metrics": "f1"}', "'metrics' are not all texts"),
        (b'{"planned": {"problems": 3, "samples": 0}}', "'samples' is 0"),
        (orjson.dumps({"version": VERSION + 1}), "newer Parley"),
    ],
)
def test_unusable(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(StoreError, match=words):
        read_manifest(tmp_path)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no manifest\.json"):
        read_manifest(tmp_path)


def test_unknown_keys_are_left_out(tmp_path: Path) -> None:
    content = {**manifest().to_dict(), "future": 1}
    (tmp_path / "manifest.json").write_bytes(orjson.dumps(content))
    assert read_manifest(tmp_path) == manifest()


def refusal(before: Manifest, now: Manifest) -> str:
    with pytest.raises(StoreError) as caught:
        resumed(before, now, Path("arm"))
    return str(caught.value)


def test_changed_setting_is_named_with_both_values_e04() -> None:
    changed = manifest(identity={"sampling": {"temperature": 0.8, "top_p": 1.0}, "seed": 42})
    assert "sampling.temperature: 0.6 there, 0.8 now" in refusal(manifest(), changed)


def test_added_removed_and_retyped_settings_are_named() -> None:
    before = manifest(identity={"a": 1, "b": {"c": True}, "text": "x" * 500})
    text = refusal(before, manifest(identity={"b": {"c": 1, "d": None}, "text": "y" * 500}))
    assert "a: 1 there, (absent) now" in text
    assert "b.c: true there, 1 now" in text
    assert "b.d: (absent) there, null now" in text
    assert "xxx... (502 characters) there" in text


def test_many_differences_are_counted() -> None:
    before = manifest(identity={f"k{i}": i for i in range(20)})
    assert "and 12 more" in refusal(before, manifest(identity={f"k{i}": -1 for i in range(20)}))


def test_what_affects_no_output_may_change_e04() -> None:
    before = manifest(
        provenance={"parley": "0.1.0"}, tracking={"id": "r1"}, status="stopped", broken_lines=1
    )
    now = manifest(
        provenance={"parley": "0.1.1"}, tracking={"mode": "offline"}, planned={"problems": 9}
    )
    merged = resumed(before, now, Path("arm"))
    assert merged.status == "running"
    assert merged.planned == {"problems": 9}
    assert merged.tracking == {"id": "r1", "mode": "offline"}
    assert merged.broken_lines == 1
    assert merged.provenance == {"parley": "0.1.1", "earlier": [{"parley": "0.1.0"}]}
    again = resumed(merged, manifest(provenance={"parley": "0.1.2"}), Path("arm"))
    assert [item["parley"] for item in again.provenance["earlier"]] == ["0.1.0", "0.1.1"]


def test_tuples_and_lists_are_the_same_setting() -> None:
    resumed(manifest(identity={"fields": ["a"]}), manifest(identity={"fields": ("a",)}), Path("a"))
