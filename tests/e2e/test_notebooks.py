"""The notebooks: text and notebook alike, no outputs, no reach into the code that runs studies."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import orjson
import pytest
from ipykernel.kernelspec import write_kernel_spec
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from command_line import FAST, environment, parley
from parley.store import find_arms, latest_rows
from records import episode, failed, sample_episodes, write_arm

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
STUDY = FOLDER / "study"
NAMES = sorted({path.stem for path in FOLDER.glob("*") if path.suffix in (".py", ".ipynb")})
DISPLAY = ("IPython", "matplotlib", "rich")
"""What may show things beside the analysis; the standard library's paths are allowed, too."""
LIMIT_S = 240
CONVERSATION = ("gold: ", r"turn 3 · Agent B", r"published \(")
SHOWN = {
    "compare_strategies": (2, (r"The arms disagree on \d+ of \d+ problems", *CONVERSATION)),
    "dissect_tokens": (3, ("could have been", r"Agent A +\d", "re-read messages", "instructions")),
    "read_disagreements": (3, (r"differ on \d+ of \d+ problems", " said", *CONVERSATION)),
}
"""Of a whole study: how many pictures, and what stands in the output."""

every_notebook = pytest.mark.parametrize("name", NAMES)


def read(name: str) -> Any:
    return jupytext.read(FOLDER / f"{name}.ipynb")


def cells(notebook: Any) -> list[tuple[str, str, list[str]]]:
    return [(c.cell_type, c.source, c.metadata.get("tags", [])) for c in notebook.cells]


def imported(source: str) -> Iterator[str]:
    """Full dotted names: of `from a import b`, that is `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


def allowed(name: str) -> bool:
    return any(
        name == root or name.startswith(f"{root}.")
        for root in ("parley.analysis", "pathlib", *DISPLAY)
    )


def of_folder(notebook: Any, folder: Path) -> Any:
    """The notebook with its one FOLDER replaced, as a user would."""
    line = re.compile(r"^FOLDER = .*$", re.MULTILINE)
    places = [cell for cell in notebook.cells if line.search(cell.source)]
    assert len(places) == 1, "one cell sets FOLDER"
    places[0].source, count = line.subn(lambda _: f"FOLDER = {str(folder)!r}", places[0].source)
    assert count == 1, "FOLDER is set once"
    return notebook


async def execute(notebook: Any, at: Path) -> Any:
    """Runs it in the folder `at`, on this interpreter, whatever kernels are installed."""
    write_kernel_spec(at / "kernels" / "here")
    specs = KernelSpecManager(kernel_dirs=[str(at / "kernels")], ensure_native_kernel=False)
    assert specs.get_kernel_spec("here").argv[0] == sys.executable
    kernel = AsyncKernelManager(
        kernel_name="here", kernel_spec_manager=specs, connection_file=str(at / "kernel.json")
    )
    client = NotebookClient(notebook, km=kernel, timeout=LIMIT_S)
    quiet = environment(IPYTHONDIR=str(at / "ipython"))
    await client.async_execute(cwd=str(at), env=quiet, cleanup_kc=True)
    return notebook


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def shown(notebook: Any, kind: str) -> list[str]:
    return [str(output["data"][kind]) for output in outputs(notebook) if kind in _data(output)]


def _data(output: Any) -> dict[str, str]:
    data: dict[str, str] = output.get("data", {})
    return data


def said(notebook: Any) -> str:
    """Everything printed, and everything displayed as text, colours left out."""
    printed = "".join(output.get("text", "") for output in outputs(notebook))
    return re.sub(r"\x1b\[[\d;]*m", "", printed + "\n".join(shown(notebook, "text/plain")))


def check(name: str, notebook: Any, arms: int) -> None:
    """The arms are counted, the pictures and tables are there; no complaint."""
    complaints = [output for output in outputs(notebook) if output.get("name") == "stderr"]
    assert not complaints
    text = said(notebook)
    assert f": {arms} arm{'s' if arms > 1 else ''}" in text
    pictures, words = SHOWN[name]
    assert len(shown(notebook, "image/png")) == pictures
    for one in words:
        assert re.search(one, text), one


def test_there_are_three() -> None:
    assert list(SHOWN) == NAMES


@every_notebook
def test_text_and_notebook_are_in_sync(name: str) -> None:
    text = jupytext.read(FOLDER / f"{name}.py")
    remedy = f"jupytext --to ipynb notebooks/{name}.py"
    assert cells(text) == cells(read(name)), remedy
    assert read(name).metadata["jupytext"]["formats"] == "ipynb,py:percent", remedy


@every_notebook
def test_it_is_stored_without_outputs(name: str) -> None:
    code = [cell for cell in read(name).cells if cell.cell_type == "code"]
    assert code
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert [cell.execution_count for cell in code] == [None] * len(code)


@every_notebook
def test_it_imports_the_analysis_only(name: str) -> None:
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    names = list(imported(source))
    assert any(found.startswith("parley.analysis") for found in names)
    assert [found for found in names if not allowed(found)] == []


@pytest.mark.parametrize("source", ["import parley", "from parley import study", "import os"])
def test_other_imports_are_found(source: str) -> None:
    assert not all(allowed(found) for found in imported(source))


@pytest.mark.slow
@every_notebook
@pytest.mark.skipif(not any(STUDY.glob("*/*/manifest.json")), reason="no study is stored yet")
async def test_it_runs_on_the_stored_study_from_any_folder(name: str, tmp_path: Path) -> None:
    notebook = await execute(read(name), tmp_path)
    check(name, notebook, arms=6)
    assert "135m" in said(notebook)


@pytest.mark.slow
@every_notebook
async def test_it_runs_on_another_folder(name: str, tmp_path: Path) -> None:
    """Where the grades of one arm differ on one problem, that problem is the one shown."""
    done = parley("run", "-m", *FAST, "strategy=full,pact", "limit=6", "study=other", at=tmp_path)
    assert done.code == 0, done.said
    study = tmp_path / "outputs" / "other"
    arm = find_arms(study)[0]
    solved = list(latest_rows(arm))[3]
    score = {"metrics": dict.fromkeys(("em", "f1", "f1_squad"), 1.0), "extracted": "the <b> gold"}
    later = {"problem": solved["problem"], "sample": 0, "score": {**score, "status": "ok"}}
    (arm / "scores.jsonl").write_bytes(orjson.dumps(later) + b"\n")
    place = tmp_path / "elsewhere"
    place.mkdir()
    notebook = await execute(of_folder(read(name), study), place)
    check(name, notebook, arms=2)
    assert "other: 2 arms, 6 problems, 12 episodes" in said(notebook)
    if name != "dissect_tokens":
        assert re.search(r"(dis|dif)\w+ on 1 of 6 problems", said(notebook))
        assert f"question: {solved['question']}" in said(notebook)
        assert "the <b> gold" in said(notebook)
    assert "the <b> gold" not in "".join(shown(notebook, "text/html")), "data is never markup"


@pytest.mark.slow
@every_notebook
async def test_it_runs_on_one_arm(name: str, tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 4))
    notebook = await execute(of_folder(read(name), tmp_path / "s"), tmp_path)
    assert "s: 1 arm, 4 problems, 4 episodes" in said(notebook)
    assert "One arm: there is nothing to compare it with" in said(notebook)
    if name != "dissect_tokens":
        assert "gold: Northmill" in said(notebook)
    if name == "read_disagreements":
        assert "There are no two arms" in said(notebook)


@pytest.mark.slow
@every_notebook
async def test_it_runs_on_an_unfinished_study(name: str, tmp_path: Path) -> None:
    """Arms without an episode, without a number, of failures, and one that cannot be read."""
    study = tmp_path / "s"
    nothing = {"em": 1.0, "f1": float("nan"), "f1_squad": 1.0}
    write_arm(study, "begun", [], problems=4, manifest={"status": "running"})
    write_arm(study, "nan", [episode(f"p{i}", metrics=nothing) for i in range(2)])
    write_arm(study, "failed", [failed(f"p{i}", "ContextOverflow") for i in range(2)])
    garbled = write_arm(study, "garbled", sample_episodes("full", 2)) / "episodes.jsonl"
    garbled.write_bytes(b"junk\njunk\n")
    strange = write_arm(study, "strange", [episode("p0"), episode("p1")]) / "episodes.jsonl"
    first, second = strange.read_bytes().splitlines()
    strange.write_bytes(first + b"\n" + second.replace(b'"turns"', b'"turned"') + b"\n")
    (study / "half").mkdir()
    (study / "half" / "config.yaml").write_text("a: 1\n")
    notebook = await execute(of_folder(read(name), study), tmp_path)
    text = said(notebook)
    for one in (
        "s: 5 arms",
        "half: half-written",
        "garbled: its records cannot be read",
        "begun: no finished episode yet",
        "nan: f1 is not a number in 2 of 2 episodes",
        "of a shape this version does not know: 1",
    ):
        assert one in text, one


@pytest.mark.slow
@every_notebook
async def test_it_runs_on_a_study_that_has_only_begun(name: str, tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", [], problems=4, manifest={"status": "running"})
    notebook = await execute(of_folder(read(name), tmp_path / "s"), tmp_path)
    assert "s: 1 arm, 0 problems, 0 episodes" in said(notebook)
    assert "no finished episode yet (4 planned)" in said(notebook)
