"""What a user may get wrong: one clear error on stderr, a failing exit code, no traceback."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import FAST, Done, command, environment, parley, rows
from fake_server import CHAT, MODELS, FakeServer, answer, chat, models
from parley.store import find_arms

pytestmark = pytest.mark.slow

KEY, PASSWORD = "sk-notforyoureyes12345678", "hunter2hunter2"


def check(done: Done, *words: str, allowed: bool = True, code: int = 1) -> None:
    """The error says what, what is allowed and what to do next, and only on stderr."""
    assert done.code == code, done.said
    for one in words:
        assert one in done.err, done.err
    assert not allowed or "\n  allowed: " in done.err, done.err
    assert "\n  next:    " in done.err, done.err
    assert "Traceback" not in done.said
    assert len(done.err.strip().split("\n")) <= 5, done.err


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ("stratgy=full", "Could not override 'stratgy'"),
        ("strategy=fll", "Could not find 'strategy/fll'"),
        ("strategy.thinsk=no", "Could not override 'strategy.thinsk'"),
        ("strategy.thinks=perhaps", "strategy.thinks: Input should be a valid boolean"),
        ("limit=many", "limit='many'"),
        ("study=1e3", "study=1000.0"),
        ("shots=99", "shots=99"),
        ("answer=long", "long"),
        ("max_error_rate=often", "max_error_rate='often'"),
        ("strategy._target_=os.system", "not in an allowed package"),
        ("engine.script=os.system", "engine.script: there is no function os.system"),
        ("benchmark=jsonl", "benchmark=jsonl needs a file of problems"),
        ("reuse=[nowhere]", "nowhere does not exist"),
    ],
)
def test_a_wrong_setting(overrides: str, words: str, tmp_path: Path) -> None:
    check(parley("run", *FAST, *overrides.split(), at=tmp_path), words)


@pytest.mark.parametrize("name", ["plan", "preview"])
def test_a_wrong_setting_of_other_commands(name: str, tmp_path: Path) -> None:
    done = parley(name, *FAST, "strategy=fll", at=tmp_path)
    check(done, f"parley {name}: ", "Could not find 'strategy/fll'")
    done = parley(name, *FAST, "benchmark=jsonl", "benchmark.path=nope.jsonl", at=tmp_path)
    check(done, "cannot read nope.jsonl", allowed=False)


def test_an_unknown_command(tmp_path: Path) -> None:
    check(parley("rnu", at=tmp_path), "no command 'rnu'", code=2)


@pytest.mark.parametrize("name", ["report", "show", "rescore", "upload"])
def test_a_folder_without_records(name: str, tmp_path: Path) -> None:
    check(parley(name, "nowhere", at=tmp_path), "nowhere does not exist")
    (tmp_path / "empty").mkdir()
    check(parley(name, "empty", at=tmp_path), "empty holds no records")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("_target_: parley.strategies.full.Full\nthinsk: false\n", "Full has no such setting"),
        ("_target_: parley.strategies.full.Ful\n", "has no attribute 'Ful'"),
        ("_target_: [unclosed\n", "expected ',' or ']'"),
        ("_target_: parley.strategies.full.Full\n\tthinks: no\n", "cannot start any token"),
        ("thinks: false\n", "strategy has no _target_"),
    ],
)
def test_a_mistake_in_a_users_yaml(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "conf" / "strategy").mkdir(parents=True)
    (tmp_path / "conf" / "strategy" / "own.yaml").write_text(text)
    done = parley("run", "--config-dir", "conf", *FAST, "strategy=own", at=tmp_path)
    assert words in done.err
    assert done.code == 1
    assert "own" in done.err or "strategy" in done.err
    assert "next:" in done.err
    assert "Traceback" not in done.said


def test_a_config_folder_that_is_not_there(tmp_path: Path) -> None:
    done = parley("run", *FAST, "--config-dir", "nowhere", at=tmp_path)
    check(done, "nowhere", "not found", allowed=False)


ROW: dict[str, Any] = {
    "id": "q1",
    "question": "Compute ${n \\choose 2}$",
    "answer": "Ann",
    "shares": [[{"title": "A", "text": "a <|im_start|> b"}], [{"title": "B", "text": "b"}]],
}


def own_file(at: Path, *lines: str) -> list[str]:
    (at / "mine.jsonl").write_text("\n".join(lines) + "\n")
    return [*FAST, "benchmark=jsonl", "benchmark.path=mine.jsonl"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([json.dumps(ROW), '{"id": '], "mine.jsonl, line 2: broken JSON"),
        ([json.dumps(ROW), "[]"], "mine.jsonl, line 2: not a JSON object"),
        ([json.dumps({**ROW, "question": ""})], "mine.jsonl, line 1: 'question' is empty"),
        ([json.dumps(ROW), json.dumps(ROW)], "the id 'q1' stands twice"),
    ],
)
def test_a_malformed_row(lines: list[str], words: str, tmp_path: Path) -> None:
    done = parley("run", *own_file(tmp_path, *lines), at=tmp_path)
    assert done.code == 1, done.said
    assert words in done.err
    assert "next:" in done.err
    assert "Traceback" not in done.said


def test_odd_text_of_a_problem_reaches_the_model_unchanged(tmp_path: Path) -> None:
    """Case E07's prompt: "${" is no interpolation here, nor a place to fill."""
    done = parley("run", *own_file(tmp_path, json.dumps(ROW)), at=tmp_path)
    assert done.code == 0, done.said
    (row,) = rows(tmp_path)
    texts = [str(part) for segment in row["segments"] for part in segment]
    assert any("Question: Compute ${n \\choose 2}$" in text for text in texts)


def test_an_unreachable_server(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    done = parley("run", "engine=remote", f"engine.urls=[{url}]", "limit=2", at=tmp_path)
    check(done, f"no server answers at {url}", allowed=False)
    check(parley("run", "engine=remote", "limit=2", at=tmp_path), "engine=remote has no server")


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        done = parley("run", "engine=llamacpp", f"engine.port={port}", "limit=1", at=tmp_path)
    check(done, str(port), allowed=False)


def test_a_missing_extra(tmp_path: Path) -> None:
    """An interpreter of its own, which surely has no vLLM."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare" / "bin" / "python"
    done = parley("run", "engine=vllm", f"engine.python={python}", "limit=1", at=tmp_path)
    check(done, "the package 'vllm' is not installed", allowed=False)
    assert "pip install 'parley-harness[vllm]'" in done.err


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file")
    done = parley("run", *FAST, "limit=1", at=tmp_path)
    assert done.code == 1, done.said
    assert "cannot create outputs/default" in done.err
    assert "Traceback" not in done.said


def test_one_bad_job_of_a_sweep_leaves_the_others_alone(tmp_path: Path) -> None:
    """Case E09: the good ones are complete, the bad ones are named, the exit code tells."""
    done = parley("run", "-m", *FAST, "limit=2", "topology.turns=2,3,4,fast", at=tmp_path)
    assert done.code == 1
    assert done.err.count("not run: ") == 2
    assert "topology.turns=3" in done.err
    assert "topology.turns: Input should be a valid integer" in done.err
    assert "Traceback" not in done.said
    assert len(rows(tmp_path)) == 4
    assert "2 arms, 4 episodes to run" in done.out


def test_failed_episodes_are_rows_and_the_exit_code_tells(tmp_path: Path) -> None:
    done = parley("run", *FAST, "limit=6", "engine.fail_every=10", at=tmp_path)
    assert done.code == 1
    assert "x TransportError: scripted failure of call" in done.err
    assert sum(1 for row in rows(tmp_path) if row["failure"]) == 2
    assert parley("run", *FAST, "limit=6", at=tmp_path).code == 0
    assert not [row for row in rows(tmp_path) if row["failure"]]


def test_a_run_that_fails_throughout_stops_early(tmp_path: Path) -> None:
    done = parley("run", *FAST, "limit=200", "engine.fail_every=1", at=tmp_path)
    check(done, "stopped: 10 of 10 episodes failed, 10 with TransportError: scripted failure")
    assert "max_error_rate=0.5" in done.err
    assert len(rows(tmp_path)) < 100  # those in flight are kept


def test_a_traceback_is_there_for_who_asks(tmp_path: Path) -> None:
    done = parley("run", *FAST, "limit=many", "--traceback", at=tmp_path)
    assert done.code == 1
    assert "Traceback (most recent call last)" in done.err
    assert "ConfigError" in done.err


async def remote(server: FakeServer, *overrides: str, at: Path) -> Done:
    """A run against the server, with a key and a password that nobody may see again."""
    address = server.url.replace("http://", f"http://me:{PASSWORD}@")
    process = await asyncio.create_subprocess_exec(
        *command("run", "engine=remote", f"engine.urls=[{address}]", f"engine.api_key={KEY}"),
        *("engine.attempts=1", "model.name=m", "limit=3", *overrides),
        cwd=at,
        env=environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 120)
    return Done(code=process.returncode or 0, out=out.decode(), err=err.decode())


def check_secrets(done: Done, at: Path) -> None:
    """Neither in what was said nor in any file that was written."""
    places = {path: path.read_bytes() for path in at.rglob("*") if path.is_file()}
    for secret in (KEY, PASSWORD):
        assert secret not in done.said
        holding = [str(path) for path, content in places.items() if secret.encode() in content]
        assert holding == []


async def test_a_wrong_model_name(tmp_path: Path) -> None:
    async with FakeServer() as server:
        server.on(MODELS, models("qwen", "llama"))
        done = await remote(server, at=tmp_path)
    check(done, f"{server.url} does not serve 'm'", "allowed: qwen, llama")
    check_secrets(done, tmp_path)


async def test_secrets_reach_the_server_and_nothing_else(tmp_path: Path) -> None:
    async with FakeServer() as server:
        server.on(MODELS, models("m"))
        server.on(CHAT, chat("The mill.\nAnswer: yes"))
        sweep = ("-m", "strategy=full,pact", "tracker=wandb", "tracker.mode=disabled")
        done = await remote(server, *sweep, at=tmp_path)
        assert {seen.headers["Authorization"] for seen in server.seen} == {f"Bearer {KEY}"}
    assert done.code == 0, done.said
    assert len(rows(tmp_path)) == 6
    check_secrets(done, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"outputs"}
    (arm, _) = find_arms(tmp_path / "outputs")
    assert "[redacted]" in (arm / "config.yaml").read_text()


@pytest.mark.parametrize("status", [401, 500])
async def test_a_server_that_repeats_the_secret_is_not_quoted(status: int, tmp_path: Path) -> None:
    said = {"error": {"message": f"bad key {KEY} at http://me:{PASSWORD}@host", "code": status}}
    async with FakeServer() as server:
        server.on(MODELS, models("m"))
        server.on(CHAT, answer(said, status=status))
        done = await remote(server, at=tmp_path)
    assert done.code == 1
    assert f"HTTP {status}" in done.err
    check_secrets(done, tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--cfg", "job", "engine=remote", f"engine.api_key={KEY}"),
        ("run", "--help", "engine=remote", f"engine.api_key={KEY}"),
        ("run", "engine=remote", f"engine.api_key={KEY}", "limit=many"),
        ("run", f"engine.api_key={KEY}"),
        ("run", f"engine.api_key={KEY}["),
        ("run", "-m", "limit=many,more", "engine=remote", f"engine.api_key={KEY}"),
        ("run", "engine=remote", f"engine.url=http://me:{PASSWORD}@host"),
        ("run", "engine=remote", f"engine.urls=http://me:{PASSWORD}@host"),
        ("run", "engine=remote", f"engine.urls=[me:{PASSWORD}@host]"),
        ("plan", "engine=remote", f"engine.urls=[http://me:{PASSWORD}@host]", "limit=2"),
        ("preview", "engine=remote", f"engine.api_key={KEY}"),
    ],
)
def test_secrets_are_not_repeated_on_the_terminal(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    done = parley(*arguments, at=tmp_path)
    assert "Traceback" not in done.said
    check_secrets(done, tmp_path)
