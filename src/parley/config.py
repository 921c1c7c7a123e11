"""The composition root: from YAML and overrides to built arms.

The only module that knows Hydra and reads the environment. Hydra composes; `components.build`
makes the objects; both a single run and a sweep end in the same `run_study(arms)`.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from itertools import product
from pathlib import Path
from typing import Any

from parley.arm import Arm
from parley.building import GROUPS, build_arm, build_tracker
from parley.errors import ConfigError, ParleyError
from parley.explaining import explain
from parley.names import config_folder
from parley.redaction import redact_text, redacted

Job = tuple[list[str], Any]
"""A job's overrides, and its composed config or the error of composing it."""
_SHOWING = frozenset({"--cfg", "-c", "--info", "-i", "--help", "-h", "--hydra-help"})
"""Flags with which Hydra prints settings, secrets and all."""
_OPEN = re.compile(r"(engine\.(args|environment)|model\.template)[.=]")
"""Settings whose keys Parley does not know: a server's own arguments, a template's own names."""

_RECORDED = {*GROUPS, "arm", "experiment", "limits"} - {"engine", "tracker"}
"""Choices that a replay takes from what was recorded."""


def compose(arguments: Sequence[str], act: Callable[[list[Job]], None]) -> None:
    """Lets Hydra read a command line and hands all its jobs to `act` at once.

    Everything Hydra users expect works: `-m`, `--cfg job`, `--help`, `--config-dir`, groups,
    `+key=`, sweepers. Hydra's own messages become ConfigErrors.
    """
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    jobs: list[Job] = []

    # Both only collect: inside its task Hydra would report an error in its own way.
    def task(config: Any) -> None:
        chosen = dict(HydraConfig.get().runtime.choices)
        jobs.append((list(arguments), with_choices(config, chosen)))

    def batch(given: list[Job]) -> list[None]:
        jobs.extend(given)
        return [None for _ in given]

    task.batch = batch  # type: ignore[attr-defined]
    # Makes Hydra raise what it would print with its own exit code.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    before, shown = sys.argv, io.StringIO()
    showing = {word.partition("=")[0] for word in arguments} & _SHOWING
    # Hydra would keep the whole command line of a sweep, secrets and all, in the current folder.
    with tempfile.TemporaryDirectory() as passing:
        words = _flags_first(_opened(arguments))
        sys.argv = ["parley run", *words, f"hydra.sweep.dir={passing}"]
        try:
            folder = str(config_folder())
            with redirect_stdout(shown) if showing else nullcontext():
                hydra.main(version_base="1.3", config_path=folder, config_name="study")(task)()
        except (HydraException, OmegaConfBaseException, YAMLError, ValueError) as error:
            raise explain(error) from error
        finally:
            sys.argv = before
            print(redact_text(shown.getvalue()), end="")
    if jobs:
        act(jobs)


def _flags_first(arguments: Sequence[str]) -> list[str]:
    """Hydra reads overrides in one row only; people put flags between them."""

    def is_override(word: str) -> bool:
        return ("=" in word[1:] and not word.startswith("-")) or word.startswith("~")

    return sorted(arguments, key=is_override)


def _opened(overrides: Sequence[str]) -> list[str]:
    """Without the marks Hydra would refuse a key that the YAML does not have already."""
    return [f"++{word}" if _OPEN.match(word) else word for word in overrides]


def compose_one(overrides: Sequence[str], folders: Sequence[Path] = ()) -> Any:
    """One composed config from Python, without a command line."""
    import hydra

    searched = [f"hydra.searchpath=[{','.join(f'file://{folder}' for folder in folders)}]"]
    words = [*_opened(overrides), *(searched if folders else [])]
    with _composing():
        config = hydra.compose("study", words, return_hydra_config=True)
        return with_choices(config, dict(config.hydra.runtime.choices))


@contextmanager
def _composing() -> Iterator[None]:
    """Hydra at the shipped configs; its errors become ConfigErrors."""
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(version_base="1.3", config_dir=str(config_folder())):
            yield
    except (HydraException, OmegaConfBaseException, YAMLError, ValueError) as error:
        raise explain(error) from error


def swept(overrides: Sequence[str]) -> list[list[str]]:
    """The overrides of each job: an experiment's own sweep, and lists with commas, multiplied out.

    What is given goes before what an experiment sweeps, as on the command line.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parser = OverridesParser.create()
    try:
        given = parser.parse_overrides(list(overrides))
        single = [one.input_line or "" for one in given if not one.is_sweep_override()]
        params = _experiment_sweep(single)
        words = [*(f"{key}={value}" for key, value in params.items()), *overrides]
        listed: dict[str, list[str]] = {}
        for one in parser.parse_overrides(words):
            key = one.get_key_element()
            several = one.sweep_string_iterator() if one.is_sweep_override() else ()
            listed[key] = [f"{key}={value}" for value in several] or [one.input_line or ""]
    except HydraException as error:
        raise explain(error) from error
    return [list(job) for job in product(*listed.values())]


def _experiment_sweep(overrides: Sequence[str]) -> Mapping[str, object]:
    """The sweep that the YAML of `experiment=` sets; empty without one."""
    named = [word.partition("=")[2] for word in overrides if word.startswith("experiment=")]
    if not named:
        return {}
    with _composing():
        import hydra

        config = hydra.compose("study", list(overrides), return_hydra_config=True)
        return dict(config.hydra.sweeper.params or {})


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


def changed(values: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Recorded values with overrides as on a command line: single settings, and the choice of an
    engine or a tracker. Raises ConfigError."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    made = OmegaConf.create(dict(values))
    OmegaConf.set_struct(made, True)
    for word in overrides:
        key, equals, value = word.partition("=")
        if not equals or key in _RECORDED:
            raise ConfigError(
                f"{redact_text(word)}: what was recorded stays as it is",
                allowed="engine=NAME, tracker=NAME, and single settings such as limit=20",
                remedy="parley run makes an arm with other choices",
            )
        try:
            if key in GROUPS:
                fresh = compose_one([word, f"outputs={values['outputs']}"])
                made[key] = OmegaConf.to_container(fresh[key], resolve=True)
                made.choices[key] = value
            else:
                given = OmegaConf.select(OmegaConf.from_dotlist([word]), key)
                OmegaConf.update(made, key, given, force_add=bool(_OPEN.match(word)))
        except (OmegaConfBaseException, YAMLError, ValueError) as error:
            told = explain(error)
            what = f"{redact_text(key)}: {told.what}"
            raise ConfigError(what, allowed=told.allowed, remedy=told.remedy) from error
    found = resolve(made)
    if lost := redacted(found):
        raise ConfigError(
            f"{lost} was a secret, which is never recorded",
            remedy=f"give it again: {lost}='${{oc.env:VARIABLE}}'",
        )
    return found


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


def arms(jobs: Sequence[Job]) -> tuple[list[Arm], dict[str, Any], dict[str, ParleyError]]:
    """Built arms, the first job's values, and what kept the other jobs from becoming arms."""
    built: list[Arm] = []
    values: dict[str, Any] = {}
    failures: dict[str, ParleyError] = {}
    budget = None
    for overrides, config in jobs:
        try:
            if isinstance(config, Exception):
                raise explain(config)
            resolved = resolve(config)
            values, budget = values or resolved, budget or resolved["budget"]
            built.append(build_arm(resolved))
        except ParleyError as error:
            failures[redact_text(" ".join(overrides)) or "this run"] = error
    if budget and not failures and not any(arm.budget for arm in built):
        raise ConfigError(
            f"budget={budget}, but no arm of this run spends a budget",
            allowed="topologies with budget_tokens: single, self_consistency, or one of your own",
            remedy="topology=single, or budget=null",
        )
    return built, values, failures


def combined(failures: Mapping[str, ParleyError]) -> ParleyError:
    """One error for all that kept jobs from becoming arms; of several, each with its job."""
    if len(failures) == 1:
        return next(iter(failures.values()))
    return ParleyError("\n".join(f"{job}: {error}" for job, error in failures.items()))


def tracker(values: Mapping[str, Any]) -> Any:
    """The study's tracker. Whether a W&B key is at hand is decided here, before W&B starts."""
    return build_tracker(values, environment=os.environ, home=Path.home())


def wandb_key() -> str | None:
    """Where a W&B key was found, or None; never the key."""
    from parley.tracking import key_source

    return key_source(os.environ, Path.home())
