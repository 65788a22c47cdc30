"""What happens between the rounds of a run: a line of progress, and Ctrl-C."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Callable, Union

from . import _library
from ._errors import UsageError


@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a run stands: a part of `stage` from 0 to 1; of sampling also steps and acceptance."""

    stage: str
    done: float
    step: int
    steps: int
    seconds: float
    steps_per_second: float
    acceptance_rate: float
    best: float
    _snapshot: Any = dataclasses.field(default=None, repr=False, compare=False)

    def result(self) -> Any:
        """A copy of the draws so far, as a Result; of runs that keep draws."""
        if self._snapshot is None:
            raise UsageError("there are no draws to look at")
        return self._snapshot(self.step)


Listener = Union[None, bool, Callable[[Progress], Any]]


class Line:
    """One line on a terminal, over the one before it."""

    def __init__(self) -> None:
        self.shown = False
        self.last = time.monotonic()

    def __call__(self, p: Progress) -> None:
        now = time.monotonic()
        if now - self.last < (0.2 if self.shown else 0.5):
            return
        self.last, self.shown = now, True
        text = f"{p.stage}: {100 * p.done:.0f} %"
        if p.steps > 0:
            text += f"  {p.steps_per_second:,.0f} steps/s, acceptance {p.acceptance_rate:.3f}"
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class Page:
    """The same in a notebook: one display that is updated."""

    def __init__(self, display: Callable[..., Any], html: Callable[[str], Any]) -> None:
        self.display, self.html = display, html
        self.handle: Any = None
        self.last = time.monotonic()

    def __call__(self, p: Progress) -> None:
        now = time.monotonic()
        if now - self.last < 0.5:
            return
        self.last = now
        text = self.html(
            f'<progress value="{p.done:.3f}" max="1"></progress> {p.stage}: {100 * p.done:.0f} %'
        )
        if self.handle is None:
            self.handle = self.display(text, display_id=True)
        else:
            self.handle.update(text)

    def close(self) -> None:
        if self.handle is not None:
            self.handle.update(self.html(""))


def _in_notebook() -> bool:
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _shown(progress: Listener) -> Any:
    """What is to be told; None for nobody."""
    if callable(progress):
        return progress
    wanted = progress if progress is not None else not os.environ.get("CI")
    if not wanted:
        return None
    if _in_notebook():
        from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

        return Page(display, HTML)
    return Line() if sys.stderr is not None and sys.stderr.isatty() else None


class Watch:
    """Gives the library a callback while it works, and Ctrl-C the meaning "stop here".

    The first Ctrl-C ends the round; a second one raises KeyboardInterrupt when the work has ended.
    Nothing is installed outside of the main thread.
    """

    def __init__(self, progress: Listener):
        self.listener = _shown(progress)
        self.error: BaseException | None = None
        self.interrupts = 0
        self.step = 0  # of the last round that was told
        self.snapshot: Callable[[int], Any] | None = None  # of a run, at a step
        self.c_function = _library.Progress(self._call)
        self._before: Any = None
        self._installed = False

    def _call(self, _user: Any, status: Any) -> int:
        try:
            self.step = status.contents.step
            if self.listener is not None and self.error is None:
                s = status.contents
                told = self.listener(
                    Progress(
                        s.stage.decode(), s.done, s.step, s.steps, s.seconds, s.steps_per_second,
                        s.acceptance_rate, s.best, self.snapshot,
                    )
                )  # fmt: skip
                if told is False:
                    return 1
        except BaseException as e:  # raised again at the end
            self.error = e
            return 1
        return int(self.interrupts > 0)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.interrupts += 1

    def __enter__(self) -> Watch:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if before is not None and before is not signal.SIG_IGN:
                self._before = before
                signal.signal(signal.SIGINT, self._interrupt)
                self._installed = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, self._before)
        self.c_function = _library.Progress()  # ends the cycle with this object
        if hasattr(self.listener, "close"):
            self.listener.close()
        if error is not None:
            return
        if self.error is not None:
            raise self.error
        if self.interrupts > 1:
            raise KeyboardInterrupt
        if self.interrupts == 1:
            print("saltus: stopped; the result is of what was done", file=sys.stderr)

    def take(
        self, model: Any, function: Callable[..., int], *arguments: Any, last: Any = None
    ) -> tuple[int, Any]:
        """Calls a function that ends with progress, user, `last` where there is one, and JSON: its
        status and result."""
        out = ctypes.c_void_p()
        more = () if last is None else (last,)
        status = model.call(function, *arguments, self.c_function, None, *more, ctypes.byref(out))
        return status, _library.take_json(out)
