"""The vLLM server that tests share: starting one takes longer than all that is asked of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from command_line import start
from vllm_cpu import SMOLLM2, TINY_QWEN3, Server, at_home_in

MODELS = {model.label: model for model in (SMOLLM2, TINY_QWEN3)}


@pytest.fixture(scope="session")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """`parley serve engine=vllm`, and that it leaves no process behind when it is told to end.

    One model at a time: pytest groups the tests of all files by the parameter, a model's label.
    """
    at = tmp_path_factory.mktemp("serve")
    served = Server(model=MODELS[request.param], registry=at / "engines")
    with start("serve", *served.overrides, at=at, env={"HOME": str(at)}) as process:
        try:
            assert process.stdout is not None
            while not (line := process.stdout.readline()).startswith("serving"):
                assert line, process.communicate()[1]
            assert at_home_in(at) >= 4  # the command, the guard, the server and its engine
            yield served
        finally:
            process.terminate()
            out, err = process.communicate(timeout=60)
    assert process.returncode == 0, out + err
    assert not list(served.registry.iterdir())
    assert at_home_in(at) == 0
