"""Feeds finished episodes to a tracker: none, or Weights & Biases. Cannot break or slow a run.

The truth is the records on disk; a tracker only shows them. All work for W&B happens on one
background thread behind a bounded queue. Whatever goes wrong there ends tracking, not the study:
`state` then says "disabled: reason", and `parley upload` sends the finished arms later.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import InitVar, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, ClassVar, Literal

from parley.errors import StoreError
from parley.redaction import redact_error
from parley.store import read_manifest, scored_rows
from parley.tracking.keys import agent_sweep, key_source
from parley.tracking.none import NoTracker
from parley.tracking.recorded import mapping, recorded
from parley.tracking.reported import FRONTIER
from parley.tracking.telling import BY_MODE, warning
from parley.tracking.wandb_run import Session
from parley.types import Episode

__all__ = ["NoTracker", "WandbTracker", "agent_sweep", "import_wandb", "key_source", "warning"]

Mode = Literal["auto", "online", "offline", "disabled"]


def import_wandb() -> Any:
    """The package, which takes half a second to import and is optional."""
    import wandb

    return wandb


@dataclass(kw_only=True, eq=False)
class WandbTracker:
    """One W&B run per arm and one of the study, grouped by study; several arms may be open.

    Neither frozen nor slotted: it holds a thread, which is no setting. An arm's run has the same
    id whenever it is resumed. Online, W&B appends to it; offline, every session writes a folder of
    its own, which `wandb sync` joins in order, and `parley upload` sends as a whole.

    In a process that a sweep's agent started, the agent's run is the only one: the first arm has
    it, also when there is nothing left to do for it, and the others are left to `parley upload`.

    `has_key`, whether an API key is available, `sweep`, the agent's sweep or "", and `importer`
    come from the caller, not from YAML.
    """

    project: str = "parley"
    """W&B project; created when it does not exist."""
    entity: str | None = None
    """User or team; null is the key's default."""
    mode: Mode = "auto"
    """`auto` is online where an API key is found, else offline; decided before W&B starts, since
    it cannot change its mode afterwards. `offline` opens no connection; `disabled` does nothing."""
    folder: str | None = None
    """Where `wandb/` with a run's files goes; null is the study's folder."""
    init_timeout_s: float = 30.0
    """Seconds until W&B is given up at the start; episodes wait in the queue meanwhile."""
    finish_timeout_s: float = 60.0
    """Seconds for uploads still under way when a run ends, and most that `close` waits."""
    capacity: int = 1000
    """Episodes that may wait for W&B; more are left out of the charts (not of table, summary and
    records), and counted."""
    has_key: InitVar[bool] = False
    sweep: InitVar[str] = ""
    importer: InitVar[Callable[[], Any] | None] = None

    operational: ClassVar[frozenset[str]] = frozenset(
        {"project", "entity", "mode", "folder", "init_timeout_s", "finish_timeout_s", "capacity"}
    )

    def __post_init__(self, has_key: bool, sweep: str, importer: Callable[[], Any] | None) -> None:
        if self.mode not in ("auto", "online", "offline", "disabled"):
            raise ValueError("tracker.mode is one of auto, online, offline, disabled")
        if self.capacity < 1 or self.init_timeout_s <= 0 or self.finish_timeout_s <= 0:
            raise ValueError("tracker.capacity and the time limits must be positive")
        self._import, self._sweep = importer or import_wandb, sweep
        self._begun: set[str] = set()
        self._queue: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._thread: threading.Thread | None = None
        mode = self.mode if self.mode != "auto" else "online" if has_key else "offline"
        self._state: dict[str, Any] = {
            "tracker": "wandb",
            "status": BY_MODE if mode == "disabled" else mode,
            "project": self.project,
            "entity": self.entity,
            "dropped": 0,
            "notes": [],
            "runs": {},
        }
        if mode == "online" and not has_key:
            self._state["status"] = "offline"
            self._note("no API key: `wandb login` or WANDB_API_KEY, then `parley upload`")

    @property
    def state(self) -> dict[str, Any]:
        """Copy of what the manifest's `tracking` holds.

        `status` is "online", "offline" or "disabled: reason"; `runs` has the id, url and folder of
        each arm; `dropped` counts episodes left out of the charts; `notes` what was not sent.
        """
        state = dict(self._state)
        return {**state, "notes": list(state["notes"]), "runs": dict(state["runs"])}

    @property
    def disabled(self) -> bool:
        """Whether nothing is tracked (any more)."""
        return str(self._state["status"]).startswith("disabled")

    def start(self, arm: str, config: Mapping[str, object], folder: str | None = None) -> None:
        """Opens the arm's run. `config` is the arm's manifest, or any nested mapping.

        With `folder`, the arm's, running means go on from the episodes recorded there.
        """
        self._begun.add(arm)
        self._put(("start", arm, config, folder, time.time()))

    def log(self, episode: Episode) -> None:
        """Charts a finished episode; returns at once."""
        if episode.arm not in self._begun:
            return
        if self._queue.qsize() >= self.capacity:
            self._state["dropped"] += 1
        else:
            self._put(("log", episode.arm, episode))

    def finish(self, arm: str, folder: str) -> None:
        """Sends summary, table and records of the arm, from its folder.

        A manifest whose status is "stopped" makes the run count as failed. An arm that was never
        started had nothing left to do: only an agent, which waits for its numbers, is sent it.
        """
        if arm in self._begun:
            self._put(("finish", arm, folder))
        elif self._sweep and not self._begun:
            with contextlib.suppress(StoreError):  # the report has said what cannot be read
                self.replay(read_manifest(Path(folder)).to_dict(), Path(folder))

    def report(self, folder: str, *, anew: bool = False) -> None:
        """Sends the study's own run, from the report in its folder: table, frontier, pictures.

        To be called after its arms are finished. `anew` replaces what W&B has of it. A process of
        an agent sends none: others may write the same study, and `parley upload` sends it once.
        """
        if self._begun and not self._sweep and (Path(folder) / "report" / FRONTIER).exists():
            self._put(("report", Path(folder).name, folder, anew))

    def replay(self, manifest: Mapping[str, Any], folder: Path) -> int:
        """Sends a recorded arm anew, in place of what W&B has of its run; returns its episodes.

        Waits for room in the queue, so that nothing is left out. For use without a running study.
        """
        arm, count = str(manifest["arm"]), 0
        self._begun.add(arm)
        self._put(("start", arm, manifest, str(folder), None))
        for record in scored_rows(folder):
            while self._queue.qsize() >= self.capacity and not self.disabled:
                time.sleep(0.01)
            self._put(("log", arm, record))
            count += 1
        self._put(("finish", arm, str(folder)))
        return count

    def close(self, wait_s: float | None = None) -> None:
        """Waits for what is under way, at most `wait_s` (null: `finish_timeout_s`), and ends W&B.

        Arms that were not finished count as failed there. May be called twice.
        """
        thread = self._thread
        if thread is None:
            return
        limit = self.finish_timeout_s if wait_s is None else wait_s
        if self.disabled:
            limit = min(limit, 5.0)
        self._queue.put(("close",))
        thread.join(min(limit, threading.TIMEOUT_MAX))
        if thread.is_alive():
            self._note(f"not everything was sent within {limit:g} s; see `parley upload`")
        self._thread, self._begun = None, set()

    def _put(self, item: tuple[Any, ...]) -> None:
        if self.disabled:
            return
        if self._thread is None:
            self._queue = SimpleQueue()
            # a daemon, so that a service which never answers cannot keep the process alive
            self._thread = threading.Thread(
                target=self._work, args=(self._queue,), name="parley-wandb", daemon=True
            )
            self._thread.start()
        self._queue.put(item)

    def _note(self, text: str) -> None:
        if len(self._state["notes"]) < 100:
            self._state["notes"] = [*self._state["notes"], text]

    def _work(self, queue: SimpleQueue[tuple[Any, ...]]) -> None:
        session: Session | None = None
        while (item := queue.get())[0] != "close":
            with self._guarded():
                if not self.disabled:
                    session = session or self._open()
                    self._handle(session, *item)
        with self._guarded():
            if session is not None:
                session.close()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """A failure ends tracking, not the thread. wandb's teardown may even raise SystemExit."""
        try:
            yield
        except ImportError as error:
            self._disable(f"{error}; pip install 'parley-harness[wandb]'")
        except (Exception, SystemExit) as error:
            self._disable(redact_error(error))

    def _disable(self, why: str) -> None:
        if not self.disabled:
            self._state["status"] = f"disabled: {why}"

    def _open(self) -> Session:
        wandb = self._import()
        self._state["wandb"] = str(wandb.__version__)
        return Session(
            wandb,
            mode=str(self._state["status"]),
            project=self.project,
            entity=self.entity,
            init_timeout_s=self.init_timeout_s,
            finish_timeout_s=self.finish_timeout_s,
            note=self._note,
            sweep=self._sweep,
        )

    def _handle(self, session: Session, kind: str, arm: str, *rest: Any) -> None:
        if kind == "start":
            self._begin(session, arm, *rest)
        elif kind == "log":
            session.log(arm, rest[0] if isinstance(rest[0], Mapping) else mapping(rest[0]))
        elif kind == "report":
            study = Path(rest[0]).absolute()
            with session.bearable(f"{arm}: the study's run"):
                self._state["study"] = session.report(study, self._root(study), replace=rest[1])
        else:
            session.finish(arm, Path(rest[0]))

    def _begin(
        self,
        session: Session,
        arm: str,
        config: Mapping[str, Any],
        folder: str | None,
        since: float | None,
    ) -> None:
        """Opens the arm's run; `since` is when it was started, None for one that is replayed."""
        runs = self._state["runs"]
        if self._sweep and runs:
            self._note(f"{arm}: an agent's run holds one arm, so this one has none")
            return
        path = None if folder is None else Path(folder)
        earlier = () if path is None or since is None else recorded(path, since)
        root = self._root(path.parent if path else Path())
        # where other arms have their runs, what keeps this one from opening is its own affair
        with session.bearable(f"{arm}: run") if runs else contextlib.nullcontext():
            run = session.start(arm, config, root, earlier=earlier, replace=since is None)
            self._state["runs"] = {**runs, arm: run}

    def _root(self, study: Path) -> Path:
        return (Path(self.folder) if self.folder else study).absolute()
