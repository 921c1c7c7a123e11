"""`parley replay DIR --strategy a,b`: recorded outputs of one sender, projected anew."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from parley import config
from parley.arm import Arm
from parley.budgets import names, preset_of
from parley.building import build_arm
from parley.donors import donor_folder
from parley.errors import ConfigError
from parley.performing import perform
from parley.redaction import redact_text
from parley.replays import outputs_of, replay_arm
from parley.store import Manifest, find_arms, read_manifest
from parley.store.manifest import MANIFEST


def command(arguments: Sequence[str]) -> int:
    """Runs or resumes the replay as a study of its own. 0 when every arm is complete, else 1."""
    parser = argparse.ArgumentParser("parley replay", description=__doc__)
    parser.add_argument("folder", type=Path, help="a study's folder, or that of the arm itself")
    parser.add_argument("--strategy", required=True, metavar="A,B", help="strategies to project by")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="ARM",
        help="the arm whose outputs are replayed: strategy, topology-strategy, arm= or folder "
        "(default: full)",
    )
    parser.add_argument(
        "--turn",
        type=int,
        metavar="N",
        help="the sender's turn, from 0 on (default: the first by another seat than the receiver)",
    )
    parser.add_argument("--to", metavar="NAME", help="the new study (default: <study>-replay)")
    parser.add_argument("--config-dir", type=Path, action="append", default=[])
    parser.add_argument(
        "overrides",
        nargs="*",
        help="settings, as limit=20 engine.threads=1; strategy.* are those of --strategy",
    )
    given = parser.parse_intermixed_args(arguments)
    folder = source_of(given.folder, given.source)
    values = settings(folder, given)
    arms = replays(folder, values, given)
    return perform(arms, values, {})


def source_of(path: Path, named: str | None) -> Path:
    """The folder of the arm whose outputs are replayed. Raises ConfigError or StoreError."""
    arms = find_arms(path)
    study = path.parent if (path / MANIFEST).is_file() else path
    if len(arms) == 1 and arms[0] == path and named is None:
        named = path.name
    wanted = named or "full"

    def fits(folder: Path, manifest: Manifest) -> bool:
        return wanted in {folder.name, *names(manifest.choices, preset_of(folder))}

    folder = donor_folder(
        study,
        fits,
        wanted=f"the arm '{wanted}' of {study}, whose outputs are to be replayed,",
        allowed=", ".join(one.name for one in find_arms(study)),
        remedy="--from ARM names it: by folder, where another name fits several",
    )
    made = sorted({"donor", "replay"} & read_manifest(folder).identity.keys())
    if made:
        raise ConfigError(
            f"{folder.name} was made of the records of another arm itself",
            allowed="an arm that was played from the start, without a donor",
            remedy="--from ARM names another arm",
        )
    return folder


def settings(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """The source's own settings, with what the command line changes, for the new study."""
    values = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    study = folder.parent
    words = [word for word in given.overrides if not word.startswith("strategy.")]
    values = {
        **values,
        "study": given.to or f"{study.name}-replay",
        "outputs": str(study.parent),
        "folder": None,
        "reuse": [],
    }
    changed = config.changed(values, words)
    if changed["study"] == study.name:
        raise ConfigError(
            f"--to {study.name} is the study that is replayed",
            remedy="--to NAME names a study of its own",
        )
    return changed


def replays(folder: Path, values: dict[str, Any], given: argparse.Namespace) -> list[Arm]:
    """One arm per strategy. Raises ConfigError."""
    source = build_arm({**values, "study": folder.parent.name})
    outputs = outputs_of(folder, source.topology, given.turn)
    own = [word for word in given.overrides if word.startswith("strategy.")]
    arms = []
    for name in filter(None, given.strategy.split(",")):
        composed = config.resolve(
            config.compose_one([f"strategy={name}", *own], [*given.config_dir])
        )
        projecting = build_arm(
            {
                **values,
                "strategy": composed["strategy"],
                "choices": {**values["choices"], "strategy": name},
                "config_folders": composed["config_folders"],
            }
        )
        arms.append(replay_arm(source, projecting, outputs, values["study"]))
    if not arms:
        raise ConfigError(
            f"--strategy {redact_text(given.strategy)!r} names none",
            allowed="strategies, with commas between them",
            remedy="--strategy full,conclusion,pact",
        )
    return arms
