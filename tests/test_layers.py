"""The shape of the source: who may import whom, who knows Hydra, and what an import costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"

ORDER = """
types errors protocols redaction seeds templates remembering
parsing.labels parsing.embedded parsing.records parsing
grading.wrappers grading.numerals grading.options grading.answers grading grading.worker
grading.limited grading.expressions grading.thinking
prompt publishing ledger.seeking ledger.sizing ledger examples schedule grading.voting
store.lines store.manifest store.archive store.rescored store metrics
data data.shapes data.evidence data.rows data.world data.fiction
strategies.* channels.* topologies.* benchmarks.*
engines.guard engines.vocabulary engines.memo engines.address engines.failures engines.wire
engines.transport engines.tokenizer engines.client engines.probe engines.process engines.registry
engines.launching engines.llamacpp_server engines.plausible engines.*
arm components choosing calls composing episode rehearsal
progress provenance reuse tracking.keys tracking.telling tracking.none tracking.recorded
tracking.reported tracking.rows tracking.wandb_process tracking.wandb_study tracking.wandb_run
tracking upload dashboard
donors budgets replays works study
analysis.naming analysis.publications analysis.caveats
analysis.placing analysis.samples analysis.resampling analysis.stats analysis.paired analysis.fronts
analysis.costs analysis.style analysis.token_bars analysis.frontier
analysis.transcript analysis.page.flows analysis.digest analysis.cache
analysis.frames analysis.placed analysis.budget_areas analysis.scale analysis.agreement
analysis.flow analysis.conduct analysis.conduct_plots analysis.flow_plots
analysis.selecting analysis.scored_arms analysis.comparing analysis.arm_rows analysis.tables
analysis.terminal analysis.compared analysis.tex_text analysis.latex analysis.notes analysis.plots
analysis.pictures analysis.listing analysis.against analysis.against_tables
analysis.page.scores analysis.page.overview analysis.page.transcripts
analysis.page.document analysis.report analysis.token_tables analysis.beside analysis.opening
analysis.disagreement analysis.disagreement_plots
names building explaining config console performing commands.* cli
""".split()
"""From the bottom up: a module imports only what stands before it. `folder.*` is every file of
the folder that is not named; those never import each other, so a new one needs no edit here."""

FRONTS = ("parsing", "grading", "store", "tracking", "ledger")
"""Folders that stand for one module, the folder's own, and hold what only it is made of."""

ALONE = ("strategies", "channels", "topologies", "benchmarks", "commands")
"""Folders whose files do not know each other."""

RUNNING = frozenset(
    {
        "arm",
        "budgets",
        "building",
        "calls",
        "choosing",
        "names",
        "components",
        "composing",
        "config",
        "data",
        "donors",
        "engines",
    }
    | {"episode", "examples", "progress", "provenance", "rehearsal", "reuse", "study", "tracking"}
    | {"upload", "dashboard", "works", "replays"}
    | {"strategies", "channels", "topologies", "benchmarks"}
)
"""What runs studies. It meets the analysis only at the files in `outputs/`."""

HEAVY = (
    "hydra omegaconf torch vllm wandb wandb_workspaces pandas matplotlib scipy statsmodels moocore "
    "datasets xllamacpp aiohttp"
)


@cache
def modules() -> dict[str, Path]:
    """Every module of Parley, its name without `parley.`; a package is its `__init__`."""
    paths = sorted((SOURCE / "parley").rglob("*.py"))
    found = {}
    for path in paths:
        parts = path.relative_to(SOURCE / "parley").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imported(name: str) -> frozenset[str]:
    """Full names of the modules that a module imports, wherever the import stands in it."""
    found = set()
    for node in ast.walk(ast.parse(modules()[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relative to itself"
            base = node.module or ""
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                inner = whole.removeprefix("parley.")
                found.add(whole if whole != inner and inner in modules() else base)
    return frozenset(found)


def ours(name: str) -> Iterator[str]:
    """What a module imports of Parley, without `parley.`."""
    for target in imported(name):
        if target.split(".")[0] == "parley" and target != "parley":
            yield target.removeprefix("parley.")


def reached(name: str) -> set[str]:
    """Everything of Parley that a module needs, directly or through others."""
    found: set[str] = set()
    left = [name]
    while left:
        fresh = set(ours(left.pop())) - found
        found |= fresh
        left.extend(fresh)
    return found


def place(name: str) -> int:
    """Where a module stands in the order."""
    folder = f"{name.split('.')[0]}.*"
    if name not in ORDER and folder not in ORDER:
        raise AssertionError(f"src/parley has a new module '{name}': give it a place in ORDER")
    return ORDER.index(name if name in ORDER else folder)


def folder(name: str) -> str:
    return name.split(".")[0]


def files() -> list[str]:
    """All modules but the empty `__init__` files and the entry for Python users."""
    return [name for name, path in modules().items() if path.name != "__init__.py"]


@pytest.mark.parametrize("name", files())
def test_imports_point_down_only(name: str) -> None:
    wrong = [target for target in ours(name) if place(target) >= place(name)]
    assert not wrong, f"{name} imports {wrong}, which do not stand below it"


@pytest.mark.parametrize("name", [name for name in files() if folder(name) in ALONE])
def test_files_of_one_folder_do_not_import_each_other(name: str) -> None:
    assert not [target for target in ours(name) if folder(target) == folder(name)]


def test_the_order_names_no_module_that_is_gone() -> None:
    gone = [name for name in ORDER if not name.endswith(".*") and name not in modules()]
    assert gone == []


def test_init_files_are_empty_but_for_the_entry() -> None:
    written = {n: p for n, p in modules().items() if p.name == "__init__.py" and p.stat().st_size}
    assert set(written) == {"", "data", *FRONTS}
    assert set(ours("")) <= {"commands.run"}


@pytest.mark.parametrize("name", [name for name in files() if folder(name) == "analysis"])
def test_analysis_knows_nothing_of_running(name: str) -> None:
    assert {folder(target) for target in reached(name)} & RUNNING == set()


@pytest.mark.parametrize("name", [name for name in files() if folder(name) in RUNNING])
def test_running_knows_nothing_of_analysis(name: str) -> None:
    assert "analysis" not in {folder(target) for target in reached(name)}


def test_a_component_knows_nothing_of_the_loop_and_the_store() -> None:
    above = {"episode", "calls", "study", "store", "building", "config", "arm"}
    for name in files():
        if folder(name) in ("strategies", "channels", "topologies", "benchmarks"):
            assert {folder(target) for target in reached(name)} & above == set(), name


def test_only_config_knows_hydra() -> None:
    knowing = [
        name
        for name in files()
        if {target.split(".")[0] for target in imported(name)} & {"hydra", "omegaconf"}
    ]
    assert knowing == ["config"]


def test_only_config_reads_the_environment() -> None:
    reading = set()
    for name in files():
        for node in ast.walk(ast.parse(modules()[name].read_text(encoding="utf-8"))):
            named = node.attr if isinstance(node, ast.Attribute) else ""
            named = node.id if isinstance(node, ast.Name) else named
            if named in ("environ", "environb", "getenv"):
                reading.add(name)
    assert reading == {"config"}


def loaded_by(code: str) -> set[str]:
    """Top-level packages that a fresh interpreter has loaded after running the code."""
    shown = "import sys; print('LOADED', *{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{shown}"],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(SOURCE), "PATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("LOADED")[2].split())


def test_importing_parley_loads_nothing_heavy() -> None:
    light = loaded_by("import parley")
    assert light.isdisjoint([*HEAVY.split(), "pydantic", "rich", "orjson"])


@pytest.mark.parametrize("argument", ["--help", "--version", "nonsense"])
def test_help_loads_nothing_heavy(argument: str) -> None:
    loaded = loaded_by(f"from parley.cli import dispatch; dispatch([{argument!r}])")
    assert loaded.isdisjoint([*HEAVY.split(), "pydantic", "rich", "orjson"])


def test_importing_any_module_loads_nothing_that_is_optional() -> None:
    names = [f"parley.{name}" for name in files() if folder(name) != "engines"]
    loaded = loaded_by("\n".join(f"import {name}" for name in names))
    assert loaded.isdisjoint(HEAVY.split())


def test_importing_an_engine_starts_no_framework() -> None:
    names = [f"parley.{name}" for name in files() if folder(name) == "engines"]
    loaded = loaded_by("\n".join(f"import {name}" for name in names))
    assert loaded.isdisjoint(set(HEAVY.split()) - {"aiohttp"})


def test_the_report_needs_nothing_that_runs(tmp_path: Path) -> None:
    """Also with the lazy imports: the whole command, up to a folder without records."""
    code = (
        f"from parley.cli import dispatch; dispatch(['report', {str(tmp_path / 'absent')!r}])\n"
        "print([n for n in sys.modules if n.startswith('parley.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}"],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(SOURCE), "PATH": ""},
        check=False,
    )
    assert "does not exist" in done.stderr, done.stderr
    loaded = {n.removeprefix("parley.") for n in ast.literal_eval(done.stdout.strip())}
    assert "analysis.report" in loaded
    assert {folder(name) for name in loaded} & RUNNING == set()
