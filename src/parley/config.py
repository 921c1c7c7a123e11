"""The composition root: from YAML and overrides to built arms.

The only module that knows Hydra and reads the environment. Hydra composes; `components.build`
makes the objects; both a single run and a sweep end in the same `run_study(arms)`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parley.arm import Arm
from parley.building import GROUPS, build_arm, build_tracker, config_folder
from parley.errors import ConfigError, ParleyError

Job = tuple[list[str], Any]
"""A job's overrides, and its composed config or the error of composing it."""


def compose(arguments: Sequence[str], act: Callable[[list[Job]], None]) -> None:
    """Lets Hydra read a command line and hands all its jobs to `act` at once.

    Everything Hydra users expect works: `-m`, `--cfg job`, `--help`, `--config-dir`, groups,
    `+key=`, sweepers. Hydra's own messages become ConfigErrors.
    """
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    single: list[Job] = []

    def task(config: Any) -> None:
        # Acted on below: inside its task Hydra would report an error in its own way.
        chosen = dict(HydraConfig.get().runtime.choices)
        single.append((list(arguments), with_choices(config, chosen)))

    def batch(jobs: list[Job]) -> list[None]:
        act(jobs)
        return [None for _ in jobs]

    task.batch = batch  # type: ignore[attr-defined]
    # Makes Hydra raise what it would print with its own exit code.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    before = sys.argv
    sys.argv = ["parley run", *arguments]
    try:
        folder = str(config_folder())
        hydra.main(version_base="1.3", config_path=folder, config_name="study")(task)()
    except (HydraException, OmegaConfBaseException) as error:
        raise explain(error) from error
    finally:
        sys.argv = before
    if single:
        act(single)


def compose_one(overrides: Sequence[str], folders: Sequence[Path] = ()) -> Any:
    """One composed config from Python, without a command line."""
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    GlobalHydra.instance().clear()
    searched = [f"hydra.searchpath=[{','.join(f'file://{folder}' for folder in folders)}]"]
    try:
        with hydra.initialize_config_dir(version_base="1.3", config_dir=str(config_folder())):
            config = hydra.compose(
                "study", [*overrides, *(searched if folders else [])], return_hydra_config=True
            )
            return with_choices(config, dict(config.hydra.runtime.choices))
    except (HydraException, OmegaConfBaseException) as error:
        raise explain(error) from error


def with_choices(config: Any, choices: Mapping[str, Any]) -> Any:
    """The config with the name of the YAML chosen in each group, under `choices`, and a user's
    own folders of YAML, under `config_folders`."""
    from omegaconf import OmegaConf, open_dict

    with open_dict(config):
        config.config_folders = []
        if "hydra" in config:
            sources = config.hydra.runtime.config_sources
            folders = [source.path for source in sources if source.schema == "file"]
            config.config_folders = [path for path in folders if path != str(config_folder())]
            del config["hydra"]
        named = {key: value for key, value in choices.items() if not key.startswith("hydra/")}
        config.choices = OmegaConf.create(named)
    return config


def explain(error: Exception) -> ConfigError:
    """Hydra's message, with what is allowed and what to do next."""
    text = str(error).strip()
    causes = [text]
    inner: BaseException | None = error.__cause__ or error.__context__
    while inner is not None and len(causes) < 3:
        causes.append(str(inner).strip().splitlines()[0] if str(inner).strip() else "")
        inner = inner.__cause__ or inner.__context__
    top = ", ".join((*GROUPS, *_plain_keys()))
    return ConfigError(
        "\n".join(dict.fromkeys(cause for cause in causes if cause)),
        allowed=top,
        remedy="`parley run --help` lists the choices of every group, `--cfg job` shows the config",
    )


def _plain_keys() -> list[str]:
    lines = (config_folder() / "study.yaml").read_text(encoding="utf-8").split("\n")
    keys = [line.split(":")[0] for line in lines if line[:1].isalpha() and ":" in line]
    return [key for key in keys if key not in ("defaults", "hydra")]


def resolve(config: Any) -> dict[str, Any]:
    """A composed config as plain values, interpolations resolved."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        values = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise explain(error) from error
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


def arms(jobs: Sequence[Job]) -> tuple[list[Arm], dict[str, Any], dict[str, str]]:
    """Built arms, the first job's values, and what kept the other jobs from becoming arms."""
    built: list[Arm] = []
    values: dict[str, Any] = {}
    failures: dict[str, str] = {}
    for overrides, config in jobs:
        try:
            if isinstance(config, Exception):
                raise explain(config)
            resolved = resolve(config)
            values = values or resolved
            built.append(build_arm(resolved))
        except ParleyError as error:
            failures[" ".join(overrides) or "this run"] = str(error)
    return built, values, failures


def tracker(values: Mapping[str, Any]) -> Any:
    """The study's tracker. Whether a W&B key is at hand is decided here, before W&B starts."""
    return build_tracker(values, environment=os.environ, home=Path.home())


def wandb_key() -> str | None:
    """Where a W&B key was found, or None; never the key."""
    from parley.tracking import key_source

    return key_source(os.environ, Path.home())
