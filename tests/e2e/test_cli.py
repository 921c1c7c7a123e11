"""The command line from end to end: real processes, real files, the shipped fake engine."""

from __future__ import annotations

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from command_line import (
    FAST,
    Done,
    answers,
    command,
    environment,
    in_terminal,
    parley,
    repeated,
    rows,
    start,
)
from parley.store import find_arms, read_manifest

pytestmark = pytest.mark.slow

SWEEP = ("run", "-m", "strategy=full,conclusion,pact", *FAST, "limit=3")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A folder in which a sweep of three arms was run, and what it printed."""
    at = tmp_path_factory.mktemp("study")
    done = parley(*SWEEP, at=at)
    assert done.code == 0, done.said
    return at, done


def test_a_sweep_ends_in_records_a_table_and_a_frontier(study: tuple[Path, Done]) -> None:
    at, done = study
    assert "3 arms, 9 episodes to run" in done.out
    assert "9/9 episodes" in done.out
    for name in ("full", "conclusion", "pact"):
        assert name in done.out
    report = at / "outputs" / "default" / "report"
    (wrote,) = [line for line in done.out.splitlines() if line.startswith(f"wrote {report}: ")]
    assert f"open  {report / 'index.html'}" in done.out
    for name in ("results.csv", "results.md", "frontier.png", "frontier.pdf"):
        assert name in wrote.partition(": ")[2].split(", ")
        assert (report / name).stat().st_size > 500
    arms = find_arms(at / "outputs")
    assert len(arms) == 3
    for arm in arms:
        assert {path.name for path in arm.iterdir()} >= {
            "manifest.json",
            "config.yaml",
            "episodes.jsonl",
        }
        assert read_manifest(arm).status == "finished"
        assert not (arm / ".lock.json").exists()
    assert len(rows(at)) == 9
    problems = {row["arm"]: [] for row in rows(at)}  # type: ignore[var-annotated]
    for row in rows(at):
        problems[row["arm"]].append(row["problem"])
    assert len({tuple(sorted(found)) for found in problems.values()}) == 1  # arms are paired


def test_the_table_has_a_row_per_arm_and_adds_up(study: tuple[Path, Done]) -> None:
    with (study[0] / "outputs/default/report/results.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["strategy"] for row in table] == ["conclusion", "full", "pact"] or len(table) == 3
    for row in table:
        assert (row["n"], row["errors"], row["benchmark"]) == ("3", "0", "fictional")
        assert float(row["tokens_total"]) == pytest.approx(
            float(row["tokens_prompt"]) + float(row["tokens_completion"])
        )


def test_arms_are_compared(study: tuple[Path, Done]) -> None:
    at, _ = study
    done = parley("compare", "outputs/default", at=at)
    assert done.code == 0, done.said
    for name in ("conclusion vs full: F1", "pact vs full: F1", "ratio of means", "mean of ratios"):
        assert name in done.out
    report = at / "outputs" / "default" / "report"
    with (report / "compare.csv").open() as file:
        assert {row["second"] for row in csv.DictReader(file)} == {"full"}
    folders = [str(arm) for arm in find_arms(at / "outputs") if "pact" in arm.name]
    folders += [str(arm) for arm in find_arms(at / "outputs") if "full" in arm.name]
    two = parley("compare", *folders, "--metric", "em", "--cost", "output", at=at)
    assert two.code == 0, two.said
    assert "pact vs full: Exact match" in two.out
    assert "pact vs full" in (report / "compare.md").read_text()


def test_a_report_on_other_axes_and_for_a_paper(study: tuple[Path, Done]) -> None:
    at, _ = study
    (at / "prices.yaml").write_text("models: {default: {input: 1, output: 4}}")
    axes = ("--score", "em", "--cost", "priced", "--prices", "prices.yaml", "--budget", "5")
    done = parley("report", "outputs/default", *axes, "--latex", "--print", at=at)
    assert done.code == 0, done.said
    assert "at 5 USD per 1,000 problems:" in done.out
    report = at / "outputs" / "default" / "report"
    for name in ("frontier.png", "frontier_em_priced.png", "print/budget_em_priced.pdf"):
        assert (report / name).stat().st_size > 500
    assert "\\toprule" in (report / "results_em_priced.tex").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "outputs/default", "full"), "does not exist"),
        (("compare", "outputs/default", "outputs/default"), "holds 3 arms"),
        (("compare", "outputs/default", "full", "nobody"), "no single arm is named 'nobody'"),
        (("compare", "outputs/default", "--baseline", "nobody"), "no single arm"),
        (("compare", "outputs/default", "--metric", "bleu"), "no arm has a metric 'bleu'"),
        (("compare", "outputs/default", "--cost", "gold"), "no cost is named 'gold'"),
        (("report", "outputs/default", "--cost", "priced"), "needs a price table"),
        (("report", "outputs/default", "--score", "bleu"), "no arm has a metric 'bleu'"),
    ],
)
def test_a_wrong_comparison_says_what_is_allowed(
    study: tuple[Path, Done], arguments: tuple[str, ...], said: str
) -> None:
    done = parley(*arguments, at=study[0])
    assert done.code == 1
    assert said in done.err
    assert "Traceback" not in done.err


def test_the_same_command_again_has_nothing_to_do(study: tuple[Path, Done]) -> None:
    at, _ = study
    before = {arm: (arm / "episodes.jsonl").read_bytes() for arm in find_arms(at / "outputs")}
    done = parley(*SWEEP, at=at)
    assert done.code == 0, done.said
    assert "3 arms, 0 episodes to run (9 already recorded)" in done.out
    assert {arm: (arm / "episodes.jsonl").read_bytes() for arm in before} == before


def test_a_single_run_adds_the_missing_arm(tmp_path: Path) -> None:
    done = parley("run", "strategy=concise", *FAST, "limit=2", "study=one", at=tmp_path)
    assert done.code == 0, done.said
    assert "1 arm, 2 episodes to run" in done.out
    assert len(rows(tmp_path, "one")) == 2
    more = parley("run", "strategy=concise", *FAST, "limit=3", "study=one", at=tmp_path)
    assert "1 arm, 1 episodes to run (2 already recorded)" in more.out
    assert repeated(tmp_path, "one") == {}
    (arm,) = find_arms(tmp_path / "outputs" / "one")
    manifest = read_manifest(arm)
    assert manifest.planned == {"problems": 3, "samples": 1}
    assert manifest.provenance["command"][1:4] == ["run", "strategy=concise", "engine=scripted"]


def test_plan_says_what_would_be_done_and_does_nothing(tmp_path: Path) -> None:
    done = parley("plan", "-m", "strategy=full,pact", *FAST, "limit=7", "samples=2", at=tmp_path)
    assert done.code == 0, done.said
    for words in ("Plan of study default", "full", "pact", "prompt tokens", "all", "28", "112"):
        assert words in done.out
    assert list(tmp_path.iterdir()) == []


def test_plan_counts_what_is_recorded(study: tuple[Path, Done]) -> None:
    done = parley("plan", "strategy=full", *FAST, "limit=5", at=study[0])
    row = next(line for line in done.out.split("\n") if line.startswith("full "))
    assert row.split()[1:5] == ["5", "2", "3", "8"]


def test_preview_prints_the_prompts_of_one_problem(tmp_path: Path) -> None:
    done = parley("preview", "strategy=pact", *FAST, at=tmp_path)
    assert done.code == 0, done.said
    for words in ("gold answer:", "=== turn 1: Agent A speaks", "=== turn 4: Agent B answers"):
        assert words in done.out
    assert "Message from Agent A:" in done.out
    assert "evidence" in done.out
    assert list(tmp_path.iterdir()) == []


def test_preview_of_two_arms_prints_their_difference(
    tmp_path: Path, study: tuple[Path, Done]
) -> None:
    done = parley("preview", "-m", "strategy=full,pact", *FAST, at=tmp_path)
    assert done.code == 0, done.said
    run = {arm.name for arm in find_arms(study[0] / "outputs")}
    assert {line.split()[1] for line in done.out.splitlines()[:2]} < run
    assert any(line.startswith("+") and "Action" in line for line in done.out.split("\n"))
    assert any(line.startswith("-") for line in done.out.split("\n"))
    refused = parley("preview", "-m", "strategy=full,pact,concise", *FAST, at=tmp_path)
    assert refused.code == 1
    assert "3 arms to preview\n  allowed: one arm, or two" in refused.err


def test_report_show_and_rescore_read_what_a_run_wrote(study: tuple[Path, Done]) -> None:
    at, _ = study
    report = at / "outputs" / "default" / "report"
    before = (report / "results.csv").read_bytes()
    shutil.rmtree(report)
    made = parley("report", "outputs/default", at=at)
    assert made.code == 0, made.said
    assert (report / "results.csv").read_bytes() == before

    listed = parley("show", "outputs/default", at=at)
    one = rows(at)[0]["problem"]
    assert one in listed.out
    shown = parley("show", "outputs/default", "--episode", one, at=at)
    assert shown.code == 0, shown.said
    for words in ("Agent A", "Agent B", "conclusion", "full", "pact"):
        assert words in shown.out
    again = parley("show", "outputs/default", "--episode", f"{one}:0", at=at)
    assert again.out == shown.out
    none = parley("show", "outputs/default", "--episode", "nope", at=at)
    assert none.code == 1
    assert "no episode 'nope' in outputs/default" in none.err
    assert "next:" in none.err

    graded = parley("rescore", "outputs/default", at=at)
    assert graded.code == 0, graded.said
    assert graded.out.count("3 answers graded again, 0 scores changed") == 3


def test_a_report_against_published_figures(study: tuple[Path, Done]) -> None:
    at, _ = study
    done = parley("report", "outputs/default", "--against", "paper", at=at)
    assert (done.code, done.err) == (0, ""), done.said
    assert "No arm of this study has a published counterpart" in done.out
    assert "other benchmark hotpotqa, other model qwen3-8b" in " ".join(done.out.split())
    report = at / "outputs" / "default" / "report"
    with (report / "published.csv").open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert {row["arm"] for row in found} == {"pact"}
    assert {row["difference"] for row in found} == {""}
    assert "2606.05304" in (report / "published.md").read_text(encoding="utf-8")
    wrong = parley("report", "outputs/default", "--against", "papre", at=at)
    assert wrong.code == 1
    assert "--against papre: there are no such published figures\n  allowed: paper," in wrong.err


@pytest.mark.parametrize("terminal", [None, 80, 40])
def test_tables_fit_the_terminal_and_break_no_name(
    study: tuple[Path, Done], terminal: int | None
) -> None:
    at, _ = study
    ids = sorted({row["problem"] for row in rows(at)})
    for arguments in (
        ("show", "outputs/default"),
        ("report", "outputs/default"),
        ("plan", "-m", "strategy=full,conclusion,pact", *FAST, "limit=3"),
        ("doctor",),
    ):
        if terminal is None:
            done = parley(*arguments, at=at, env={"COLUMNS": "20"})
            code, out = done.code, done.out
        else:
            code, out = in_terminal(*arguments, at=at, columns=terminal)
        assert code == 0, out
        lines = [
            line.rstrip() for line in out.splitlines() if not line.startswith(("wrote ", "open "))
        ]
        assert max(map(len, lines)) <= (terminal or 160), out
        wanted = {"show": ids, "report": ["conclusion"], "plan": ["conclusion"]}
        for one in wanted.get(arguments[0], []):
            assert any(one in line.split() for line in lines), out


def test_schema_describes_what_is_recorded(study: tuple[Path, Done]) -> None:
    done = parley("schema", at=study[0])
    assert done.code == 0, done.said
    schema = json.loads(done.out)
    assert schema["version"] == 1
    for row in rows(study[0]):
        jsonschema.validate(row, schema)


def test_doctor_says_what_there_is(tmp_path: Path) -> None:
    done = parley("doctor", at=tmp_path)
    assert done.code == 0, done.said
    engines = ("llama.cpp engine", "vLLM engine", "transformers engine")
    for words in ("python", "parley-harness", *engines, "hub", "W&B"):
        assert words in done.out


def test_help_is_for_everyone(tmp_path: Path) -> None:
    for arguments in ((), ("--help",), ("-h",), ("help",)):
        done = parley(*arguments, at=tmp_path)
        assert (done.code, done.err) == (0, "")
        assert "usage: parley COMMAND" in done.out
    own = parley("run", "--help", at=tmp_path)
    assert own.code == 0, own.said
    assert "strategy: artifact, concise, conclusion, full, pact, summary" in own.out
    assert parley("report", "--help", at=tmp_path).code == 0
    version = parley("--version", at=tmp_path)
    assert version.out.startswith("parley 0.")


def test_cfg_job_prints_the_config_and_runs_nothing(tmp_path: Path) -> None:
    done = parley("run", "--cfg", "job", "strategy=pact", "limit=7", *FAST, at=tmp_path)
    assert done.code == 0, done.said
    assert "limit: 7" in done.out
    assert "parley.strategies.pact.Pact" in done.out
    assert list(tmp_path.iterdir()) == []


MINE = """
from dataclasses import dataclass
from typing import ClassVar

from parley.types import Message, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstWords:
    thinks: ClassVar[bool] = False
    answer_thinks: ClassVar[bool] = False
    max_asks: ClassVar[int] = 0
    schema: ClassVar[None] = None

    words: int = 5
    '''Words that are sent.'''

    def instruct(self, cue):
        return f"Write the fact that matters. Only {self.words} words are sent."

    def project(self, draft):
        visible = draft.outputs[0].visible
        text = " ".join(visible.split(" ")[: self.words])
        kept = Span(output=0, source="visible", start=0, end=len(text))
        return Message(text=text, kept=(kept,)) if text else Message(text="", status="unparsed")

    def example(self, demo, cue):
        return demo.fact
"""


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """A user's own folder: a strategy in a package, and its YAML."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    (tmp_path / "mine" / "first_words.py").write_text(MINE)
    (tmp_path / "conf" / "strategy").mkdir(parents=True)
    (tmp_path / "conf" / "strategy" / "first_words.yaml").write_text(
        "_target_: mine.first_words.FirstWords\nwords: 4\n"
    )
    return tmp_path


def test_a_strategy_of_ones_own_is_one_file_and_one_yaml(users: Path) -> None:
    own = ("--config-dir", "conf", "packages=[mine]", *FAST, "limit=2")
    done = parley("run", "-m", "strategy=first_words", "strategy.words=4,6", *own, at=users)
    assert done.code == 0, done.said
    assert "first_words(words=6)" in done.out
    sent = {
        len(turn["message"]["text"].split(" "))
        for row in rows(users)
        for turn in row["turns"]
        if turn["message"]
    }
    assert 4 in sent
    assert max(sent) == 6
    listed = parley("run", "--help", "--config-dir", "conf", at=users)
    assert "first_words" in listed.out


def test_the_strategy_that_readme_shows_works_as_it_stands(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    section = text.split("## A strategy of your own")[1]
    code, yaml = (section.split(f"```{name}\n")[1].split("```")[0] for name in ("python", "yaml"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tail.py").write_text(code, encoding="utf-8")
    (tmp_path / "yaml" / "strategy").mkdir(parents=True)
    (tmp_path / "yaml" / "strategy" / "tail.yaml").write_text(yaml, encoding="utf-8")
    command = re.search(r"`parley (run -m strategy=full,tail [^`]*)`", section)
    assert command
    done = parley(*command[1].split(" "), *FAST, "limit=2", at=tmp_path)
    assert done.code == 0, done.said
    assert {row["arm"].split("-")[2] for row in rows(tmp_path)} == {"full", "tail"}


def test_a_strategy_of_ones_own_works_from_another_folder(users: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = parley(
        *("run", "strategy=first_words", f"--config-dir={users / 'conf'}", "packages=[mine]"),
        *(*FAST, "limit=2"),
        at=elsewhere,
        env={"PYTHONPATH": str(users)},
    )
    assert done.code == 0, done.said
    assert len(rows(elsewhere)) == 2


def test_python_users_need_three_lines(tmp_path: Path) -> None:
    code = (
        "import parley\n"
        f"table = parley.run(*{FAST!r}, 'limit=2', strategy=['full', 'pact'])\n"
        "print('TABLE', *table['strategy'], *table['n'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "TABLE full pact 2 2" in done.stdout


def test_an_existing_folder_is_not_resumed_under_other_settings(tmp_path: Path) -> None:
    """Case E04: the key that differs is named; where things are written does not matter."""
    base = ("run", *FAST, "limit=2", "folder=mine")
    assert parley(*base, "sampling.temperature=0.6", at=tmp_path).code == 0
    changed = parley(*base, "sampling.temperature=0.8", at=tmp_path)
    assert changed.code == 1
    assert "sampling.temperature: 0.6 there, 0.8 now" in changed.err
    assert "next:" in changed.err
    assert len(rows(tmp_path)) == 2
    (tmp_path / "outputs").rename(tmp_path / "moved")
    same = parley(*base, "outputs=moved", "tracker.mode=disabled", "tracker=wandb", at=tmp_path)
    assert same.code == 0, same.said
    assert "0 episodes to run (2 already recorded)" in same.out


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_so_and_resumes(sign: signal.Signals, tmp_path: Path) -> None:
    words = ("run", *FAST, "limit=40", "concurrency=2")
    process = start(*words, "engine.latency_s=0.05", at=tmp_path)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = [path.stat().st_size for path in tmp_path.glob("outputs/*/*/episodes.jsonl")]
        if any(found):
            break
        time.sleep(0.05)
    process.send_signal(sign)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "stopped; the same command resumes" in err
    assert "Traceback" not in out + err
    (arm,) = find_arms(tmp_path / "outputs")
    assert read_manifest(arm).status == "stopped"
    kept = answers(tmp_path)
    assert 0 < len(kept) < 40
    done = parley(*words, at=tmp_path)
    assert done.code == 0, done.said
    assert f"({len(kept)} already recorded)" in done.out
    assert len(rows(tmp_path)) == 40
    assert kept.items() <= answers(tmp_path).items()
    assert repeated(tmp_path) == {}


@pytest.mark.slow
def test_of_four_at_once_one_runs_and_the_others_are_refused(tmp_path: Path) -> None:
    """Case E08: nothing is lost, nothing is written twice."""
    words = ("run", *FAST, "limit=40", "concurrency=1", "engine.latency_s=0.1")
    processes = [start(*words, at=tmp_path) for _ in range(4)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in processes]
    refused = [code for _, code in ended].count(1)
    # On a machine so busy that one starts when another has ended, it finds nothing left to do.
    assert refused >= 2
    assert [code for _, code in ended].count(0) == 4 - refused
    for (_, err), code in ended:
        if code:
            assert "is being written by" in err
            assert "allowed: one writer per folder" in err
            assert "next:" in err
            assert "Traceback" not in err
    assert len(rows(tmp_path)) == 40
    assert repeated(tmp_path) == {}
    (arm,) = find_arms(tmp_path / "outputs")
    assert read_manifest(arm).status == "finished"


@pytest.mark.slow
def test_four_at_once_share_a_study_of_four_arms(tmp_path: Path) -> None:
    processes = [
        start("run", f"strategy={name}", *FAST, "limit=5", at=tmp_path)
        for name in ("full", "concise", "conclusion", "pact")
    ]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err
    assert len(rows(tmp_path)) == 20
    assert parley("report", "outputs/default", at=tmp_path).code == 0


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("schema"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_an_overflow_is_an_outcome_and_a_broken_call_is_work_left(tmp_path: Path) -> None:
    """What resuming would try again makes the command fail; what it would not, does not."""
    overflown = parley("run", *FAST, "model.context=64", "max_error_rate=1", "limit=2", at=tmp_path)
    assert overflown.code == 0, overflown.said
    assert "2 x ContextOverflow" in overflown.err
    broken = parley(
        "run", *FAST, "engine.fail_every=3", "max_error_rate=1", "limit=3", "study=b", at=tmp_path
    )
    assert broken.code == 1, broken.said
    assert "x TransportError" in broken.err
