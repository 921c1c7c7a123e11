"""What all engines have in common."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest

import parley.engines
from parley.engines.llamacpp import LlamaCpp
from parley.engines.remote import Remote
from parley.engines.scripted import Scripted
from parley.engines.transformers import Transformers
from parley.engines.vllm import Vllm
from parley.protocols import Engine

# Typed, so that mypy holds each against the protocol.
ENGINES: tuple[Engine, ...] = (
    LlamaCpp(),
    Vllm(),
    Transformers(),
    Remote(urls=("http://a", "http://b")),
    Scripted(),
)
FOLDER = Path(parley.engines.__file__).parent


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: type(engine).__name__)
def test_every_field_tells_its_unit_and_reason(engine: Engine) -> None:
    kind = type(engine)
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    assert kind.operational <= names  # type: ignore[attr-defined]
    assert engine.concurrency > 0
    module = ast.parse((FOLDER / f"{kind.__module__.rpartition('.')[2]}.py").read_text())
    body = next(n for n in module.body if isinstance(n, ast.ClassDef) and n.name == kind.__name__)
    for here, below in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(here, ast.AnnAssign)
            and isinstance(here.target, ast.Name)
            and here.target.id in names
        ):
            assert isinstance(below, ast.Expr), here.target.id
            assert isinstance(below.value, ast.Constant), here.target.id


def test_no_engine_imports_another() -> None:
    engines = {"llamacpp", "vllm", "transformers", "remote", "scripted"}
    for name in engines:
        tree = ast.parse((FOLDER / f"{name}.py").read_text())
        imported = {
            alias.name if node.module == "parley.engines" else str(node.module).rpartition(".")[2]
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("parley.engines")
            for alias in node.names
        }
        assert not imported & engines - {name}, name
