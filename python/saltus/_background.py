"""A run in a thread of its own."""

from __future__ import annotations

import threading
from typing import Any

from . import _sample
from ._errors import UsageError
from ._progress import Progress
from ._result import Result


class Run:
    """A run that goes on beside the caller: made by `start`."""

    def __init__(self, model: Any, options: dict[str, Any]):
        self.progress: Progress | None = None
        self._going = threading.Event()
        self._going.set()
        self._stopped = False
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, args=(model, options), daemon=True)
        self._thread.start()

    def _work(self, model: Any, options: dict[str, Any]) -> None:
        try:
            self._result = _sample.sample(model, **options, progress=self._tell)
        except BaseException as e:  # raised again in result()
            self._error = e

    def _tell(self, progress: Progress) -> bool:
        self.progress = progress
        self._going.wait()
        return not self._stopped

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def pause(self) -> None:
        """Waits at the end of the round, until `go_on` or `stop`."""
        self._going.clear()

    def go_on(self) -> None:
        self._going.set()

    def stop(self) -> None:
        """Ends at the end of the round; `result` has what there is."""
        self._stopped = True
        self._going.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for the end, or for so many seconds. True at the end."""
        self._thread.join(timeout)
        return not self.running

    def so_far(self) -> Result | None:
        """A copy of the draws until now, while the run goes on; None before the first."""
        return None if self.progress is None else self.progress.result()  # type: ignore[no-any-return,unused-ignore]

    def result(self) -> Result:
        """Waits for the end, and gives the result or raises what ended the run."""
        if not self._going.is_set():
            raise UsageError("the run is paused: go_on or stop it first")
        self.wait()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def __reduce__(self) -> Any:
        raise UsageError("a run that goes on cannot be pickled or copied: its result can")


def start(model: Any, **options: Any) -> Run:
    """`sample` with these options in a thread of its own: progress, pause, go_on, stop, result."""
    if "progress" in options:
        raise UsageError("a run in the background has its own progress: leave it out")
    return Run(model, options)
