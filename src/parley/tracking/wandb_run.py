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
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from parley.redaction import redact, redact_error
from parley.store import latest_rows, read_manifest
from parley.tracking.rows import COLUMNS, STEP, Averages, Progress, run_config, run_id, table_line

MAX_TABLE_ROWS = 10_000
"""wandb's own bound on tables that are no artifacts; beyond it, the records are the place."""


@dataclass(slots=True, kw_only=True)
class Live:
    """The open run of one arm, and which of its metrics W&B knows."""

    run: Any
    progress: Progress
    defined: set[str] = field(default_factory=set)


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
    ) -> None:
        self._wandb, self._mode, self._note = wandb, mode, note
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
            _without_telemetry(wandb)
            with _exit_hooks_kept():
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
        _writable(root)
        study = str(config.get("study", ""))
        with _exit_hooks_kept():
            run = self._wandb.init(
                **self._place,
                dir=str(root),
                id=run_id(study, arm),
                name=str(config.get("label") or arm),
                group=study or None,
                config=run_config({**config, "arm": arm}),
                mode=self._mode,
                reinit="create_new",
                resume=None if replace else "allow",
                # the app's stop button would interrupt the whole study, not this arm
                settings=self._wandb.Settings(
                    **self._settings,
                    stop_fn=lambda: self._note(f"{arm}: the app's stop button is not obeyed"),
                ),
            )
        run.define_metric(STEP, hidden=True)
        run.define_metric("*", step_metric=STEP)
        progress = Progress(metric="", metrics=())
        _name_metrics(progress, config)
        self._live[arm] = Live(run=run, progress=progress)
        for record in earlier:
            progress.add(record)
        url = run.url if self._mode == "online" else None
        return {"id": run.id, "url": url, "path": str(run.settings.sync_dir)}

    def log(self, arm: str, record: Mapping[str, Any]) -> None:
        """Charts one finished episode; of an arm that is not open, nothing."""
        live = self._live.get(arm)
        if live is None:
            return
        with self.bearable(f"{arm}: an episode"):
            data = live.progress.add(record)
            for name in data.keys() - live.defined:
                if name != STEP and not name.startswith("mean/"):
                    # else the last episode would stand in the summary as if it were the arm
                    live.run.define_metric(name, step_metric=STEP, summary="none")
            live.defined.update(data)
            live.run.log(data)

    def finish(self, arm: str, folder: Path | None) -> None:
        """Summary, table, figures and records of the arm; then its run ends.

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
                table, summary = self._table(live.progress, folder)
                live.run.summary.update(summary)
                live.run.log({"episodes": table})
            with self.bearable(f"{arm}: figures"):
                image = self._wandb.Image
                figures = sorted((folder.parent / "report").glob("*.png"))
                live.run.log({f"report/{path.stem}": image(str(path)) for path in figures})
            with self.bearable(f"{arm}: records"):
                live.run.log_artifact(self._artifact(arm, folder, manifest))
        live.run.finish(exit_code=1 if failed else 0)

    def close(self) -> None:
        """Ends every run still open, as failed, and the service with them."""
        try:
            for arm in list(self._live):
                self.finish(arm, None)
        finally:
            if self._owner:
                self._wandb.teardown()

    def _table(self, progress: Progress, folder: Path) -> tuple[Any, dict[str, float]]:
        averages = Averages()
        lines: list[list[object]] = []
        count = errors = 0
        for record in latest_rows(folder):
            row, values = progress.row(record)
            averages.add(values)
            count, errors = count + 1, errors + bool(row["failed"])
            if len(lines) < MAX_TABLE_ROWS:
                lines.append(table_line(record, row, values))
        if count > MAX_TABLE_ROWS:
            self._note(f"the table holds the first {MAX_TABLE_ROWS} of {count} episodes")
        table = self._wandb.Table(columns=list(COLUMNS), data=lines)
        return table, {**averages.means(), "n": count, "errors": errors}

    def _artifact(self, arm: str, folder: Path, manifest: Mapping[str, Any]) -> Any:
        name = re.sub(r"[^\w.-]", "-", f"records-{arm}")[:128]
        artifact = self._wandb.Artifact(name, type="records")
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


def _name_metrics(progress: Progress, manifest: Mapping[str, Any]) -> None:
    progress.metric = progress.metric or str(manifest.get("metric") or "")
    progress.metrics = progress.metrics or tuple(manifest.get("metrics") or ())


def _writable(root: Path) -> None:
    """Raises OSError where wandb would go on in the system's folder for temporary files."""
    root.mkdir(parents=True, exist_ok=True)
    for folder in (root, root / "wandb"):
        if folder.exists():
            with tempfile.TemporaryFile(dir=folder):
                pass


def _without_telemetry(wandb: Any) -> None:
    """No reports to wandb's makers: where they cannot be sent, the process would end late."""
    with contextlib.suppress(Exception):
        wandb.analytics.opentelemetry.opentelemetry_proxy.disable()


@contextlib.contextmanager
def _exit_hooks_kept() -> Iterator[None]:
    """wandb puts itself in the place of sys.exit and sys.excepthook; both belong to the study."""
    kept = sys.exit, sys.excepthook
    try:
        yield
    finally:
        sys.exit, sys.excepthook = kept
