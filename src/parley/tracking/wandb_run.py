"""What is said to Weights & Biases: one live run per arm, in one session per process.

Everything here blocks, may fail, and is called by one background thread only (`parley.tracking`).
Written against wandb 0.31, whose ways it depends on:

- Several runs live in one process only with `reinit="create_new"`, each held by hand.
- `wandb.setup` takes the mode before anything else: telemetry, logins and the service then know
  that a session is offline, and nothing connects. A session that failed to come online cannot
  turn offline in the same process, so the mode never changes later.
- Metadata that wandb gathers by itself (command line, git remote, host) may hold passwords: off.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from parley.redaction import redact, redact_error
from parley.store import read_manifest, scored_rows
from parley.tracking.reported import reported
from parley.tracking.rows import (
    BY_TOKENS,
    CHARTED,
    COLUMNS,
    EACH,
    RUNNING,
    SPENT,
    STEP,
    Progress,
    run_config,
    run_id,
    summary,
    table_line,
)
from parley.tracking.wandb_process import exit_hooks_kept, without_telemetry, writable
from parley.tracking.wandb_study import study_parts, study_summary

MAX_TABLE_ROWS = 10_000
"""wandb's own bound on tables that are no artifacts; beyond it, the records are the place."""


@dataclass(slots=True, kw_only=True)
class Live:
    """The open run of one arm."""

    run: Any
    progress: Progress


class Session:
    """All runs of this process. Methods raise; `note` is told what went wrong but was bearable."""

    def __init__(
        self,
        wandb: Any,
        *,
        mode: str,
        project: str,
        entity: str | None,
        init_timeout_s: float,
        finish_timeout_s: float,
        note: Callable[[str], None],
        sweep: str = "",
    ) -> None:
        self._wandb, self._mode, self._note, self._sweep = wandb, mode, note, sweep
        self._place = {"project": project, "entity": entity}
        self._live: dict[str, Live] = {}
        self._settings = {
            "mode": mode,
            "init_timeout": init_timeout_s,
            "finish_timeout": finish_timeout_s,
            "x_service_wait": init_timeout_s,
            # a key was found before; should wandb not find it, it must not wait for typing
            "login_timeout": 1.0,
            "allow_val_change": True,
            "console": "off",
            "silent": True,
            "save_code": False,
            "disable_git": True,
            "disable_job_creation": True,
            "label_disable": True,
            "symlink": False,
            "x_disable_machine_info": True,
            "x_save_requirements": False,
        }
        # a run that somebody else has open in this process keeps its settings and service
        self._owner = wandb.run is None
        if self._owner:
            without_telemetry(wandb)
            with exit_hooks_kept():
                wandb.setup(wandb.Settings(**self._settings))

    def start(
        self,
        arm: str,
        config: Mapping[str, Any],
        root: Path,
        *,
        earlier: Iterable[Mapping[str, Any]] = (),
        replace: bool = False,
    ) -> dict[str, Any]:
        """Opens the arm's run and says where it is.

        `earlier` are the episodes charted in earlier sessions. `replace` starts the run anew under
        its id: W&B then forgets what it had of it.
        """
        study = str(config.get("study", ""))
        known = ((config.get("tracking") or {}).get("runs") or {}).get(arm) or {}
        run = self._open(
            root,
            id=str(known.get("id") or run_id(study, arm)),
            sweep=str(known.get("sweep") or ""),
            name=str(config.get("label") or arm),
            group=study or None,
            job_type="arm",
            config=run_config({**config, "arm": arm}),
            resume=None if replace else "allow",
            stop=f"{arm}: the app's stop button is not obeyed",
        )
        _define(run)
        progress = Progress(metric="", metrics=())
        _name_metrics(progress, config)
        self._live[arm] = Live(run=run, progress=progress)
        for record in earlier:
            progress.add(record)
        url = run.url if self._mode == "online" else None
        where = {"id": run.id, "url": url, "path": str(run.settings.sync_dir)}
        return where | ({"sweep": run.sweep_id} if run.sweep_id else {})

    def _open(self, root: Path, *, id: str, sweep: str, stop: str, **about: Any) -> Any:
        """A run with its files below `root`.

        In a sweep, W&B takes id, project and entity from the agent, whatever is said here. A run
        that belonged to a sweep once stays in it when it is sent again.
        """
        writable(root)
        place = {} if self._sweep else {**self._place, "id": id}
        # the app's stop button would interrupt the whole study, not this arm
        settings: dict[str, Any] = {**self._settings, "stop_fn": lambda: self._note(stop)}
        if sweep and not self._sweep:
            settings["sweep_id"] = sweep
        with exit_hooks_kept():
            return self._wandb.init(
                **place,
                **about,
                dir=str(root),
                mode=self._mode,
                reinit="create_new",
                settings=self._wandb.Settings(**settings),
            )

    def log(self, arm: str, record: Mapping[str, Any]) -> None:
        """Charts one finished episode; of an arm that is not open, nothing."""
        live = self._live.get(arm)
        if live is None:
            return
        with self.bearable(f"{arm}: an episode"):
            live.run.log(live.progress.add(record))

    def finish(self, arm: str, folder: Path | None) -> None:
        """Summary, table and records of the arm; then its run ends.

        Without a folder, or with a manifest that says "stopped", the run counts as failed.
        """
        live = self._live.pop(arm, None)
        if live is None:
            return
        failed = folder is None
        if folder is not None:
            manifest = read_manifest(folder).to_dict()
            failed = manifest["status"] == "stopped"
            _name_metrics(live.progress, manifest)
            with self.bearable(f"{arm}: table and summary"):
                table, found = self._table(live.progress, folder)
                name, more = reported(folder, int(found["recorded"]))
                found |= more
                if name:
                    live.run.name = name
                # in the history once: then W&B draws a bar an arm of its own accord
                live.run.log({key: found[key] for key in found if _is_charted(key)})
                live.run.log({"episodes": table})
                live.run.summary.update(found)
            with self.bearable(f"{arm}: records"):
                live.run.log_artifact(self._artifact(arm, folder, manifest))
        live.run.finish(exit_code=1 if failed else 0)

    def report(self, study: Path, root: Path, *, replace: bool = False) -> dict[str, Any]:
        """Opens the study's own run, logs what its report says of its arms, and ends it."""
        run = self._open(
            root,
            id=run_id(study.name, ""),
            sweep="",
            name=f"study {study.name}",
            group=study.name,
            job_type="study",
            config={"study": study.name},
            resume=None if replace else "allow",
            stop=f"{study.name}: the app's stop button is not obeyed",
        )
        for what, data in study_parts(self._wandb, study):
            with self.bearable(f"{study.name}: {what}"):
                run.log(data)
        with self.bearable(f"{study.name}: summary"):
            run.summary.update(study_summary(study))
        url = run.url if self._mode == "online" else None
        where = {"id": run.id, "url": url, "path": str(run.settings.sync_dir)}
        run.finish(exit_code=0)
        return where

    def close(self) -> None:
        """Ends every run still open, as failed, and the service with them."""
        try:
            for arm in list(self._live):
                self.finish(arm, None)
        finally:
            if self._owner:
                self._wandb.teardown()

    def _table(self, progress: Progress, folder: Path) -> tuple[Any, dict[str, float]]:
        lines: list[list[object]] = []

        def rows() -> Iterator[tuple[str, dict[str, float]]]:
            for record in scored_rows(folder):
                row, values = progress.row(record)
                if len(lines) < MAX_TABLE_ROWS:
                    lines.append(table_line(record, row, values))
                yield str(row["problem"]), values

        found = summary(rows(), progress.metrics)
        if (count := int(found["recorded"])) > MAX_TABLE_ROWS:
            self._note(f"the table holds the first {MAX_TABLE_ROWS} of {count} episodes")
        return self._wandb.Table(columns=list(COLUMNS), data=lines), found

    def _artifact(self, arm: str, folder: Path, manifest: Mapping[str, Any]) -> Any:
        artifact = self._wandb.Artifact(_artifact_name(arm), type="records")
        # a copy where the upload may come after the arm was resumed
        policy = "immutable" if self._mode == "online" else "mutable"
        for file in ("episodes.jsonl", "scores.jsonl"):
            if (folder / file).exists():
                artifact.add_file(str(folder / file), name=file, skip_cache=True, policy=policy)
        with artifact.new_file("manifest.json", mode="wb") as stream:
            stream.write(orjson.dumps(redact(manifest), option=orjson.OPT_INDENT_2))
        return artifact

    @contextlib.contextmanager
    def bearable(self, what: str) -> Iterator[None]:
        """Notes a failure instead of raising it, unless the service itself is gone."""
        try:
            yield
        except (ConnectionError, EOFError):
            raise
        except Exception as error:
            self._note(f"{what} not sent: {redact_error(error)}")


def _define(run: Any) -> None:
    """What W&B charts against what, and what it leaves off the page until it is asked for.

    Without `summary="none"` the last episode would stand in the summary as if it were the arm.
    """
    run.define_metric(STEP, hidden=True)
    run.define_metric(SPENT, step_metric=STEP, hidden=True)
    run.define_metric(BY_TOKENS, step_metric=SPENT)
    run.define_metric(f"{RUNNING}*", step_metric=STEP)
    run.define_metric(f"{EACH}*", step_metric=STEP, hidden=True, summary="none")


def _artifact_name(arm: str) -> str:
    """`records-ARM` in the signs that W&B allows; names that lose some stay distinct."""
    plain = re.sub(r"[^\w.-]", "-", f"records-{arm}", flags=re.ASCII)
    if plain == f"records-{arm}" and len(plain) <= 128:
        return plain
    return f"{plain[:119]}-{hashlib.sha256(arm.encode()).hexdigest()[:8]}"


def _is_charted(name: str) -> bool:
    return name in CHARTED or name.startswith("score/")


def _name_metrics(progress: Progress, manifest: Mapping[str, Any]) -> None:
    progress.metric = progress.metric or str(manifest.get("metric") or "")
    progress.metrics = progress.metrics or tuple(manifest.get("metrics") or ())
