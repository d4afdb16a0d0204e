"""Chunks of a study on executors: threads and processes, dask, Ray.

The bytes of a model go to a worker once: a task carries its hash, and a worker that does not know it says so. Then the task is given out again, with
the bytes. Dask and Ray have their own ways to spread data.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _errors
from ._sweep import Part, _run_chunk

if TYPE_CHECKING:
    from ._sweep import _Variant

# Tasks that an executor has at a time for each of its workers: enough to keep it busy, few enough to stop soon.
_AHEAD = 3

Done = Callable[[int, Part], None]


def share(
    executor: Any,
    variants: list[_Variant],
    chunks: list[tuple[int, int, int]],
    missing: list[int],
    done: Done,
    retries: int,
    permissions: tuple[bool, bool],
) -> None:
    """Give out all missing chunks and hand over what comes back."""
    study = _Study(variants, chunks, permissions)
    if isinstance(executor, Executor):
        _futures(executor, study, missing, done, retries)
    elif _is_dask(executor):
        _dask(executor, study, missing, done, retries)
    elif getattr(executor, "__name__", "") == "ray":
        _ray(executor, study, missing, done, retries)
    else:
        raise TypeError(
            "executor: expected None, a concurrent.futures.Executor, a dask.distributed.Client or the module ray, "
            f"found {type(executor).__name__}"
        )


class _Study:
    def __init__(self, variants: list[_Variant], chunks: list[tuple[int, int, int]], permissions: tuple[bool, bool]) -> None:
        self.variants = variants
        self.chunks = chunks
        self.permissions = permissions
        self._bytes: dict[int, bytes] = {}

    def data(self, at: int) -> bytes:
        if at not in self._bytes:
            self._bytes[at] = self.variants[at].model.to_bytes()
        return self._bytes[at]

    def part(self, number: int) -> tuple[int, Any, Any]:
        at, first, last = self.chunks[number]
        variant = self.variants[at]
        return at, variant.task, variant.points[first:last]


def _lost(number: int, error: BaseException) -> _errors.Error:
    failure = _errors.Error(f"the task {number} was lost again and again: {error}")
    failure.__cause__ = error
    return failure


def _broken(error: BaseException) -> _errors.Error:
    """A pool of processes that has lost one takes no more tasks."""
    hint = "give a new one; with `to` the study goes on where it was"
    return _errors.Error(f"the executor has lost a worker and cannot go on ({error}): {hint}")


def _futures(executor: Executor, study: _Study, missing: list[int], done: Done, retries: int) -> None:
    workers = getattr(executor, "_max_workers", 2) or 2
    waiting = list(reversed(missing))
    running: dict[Future[Any], tuple[int, bool]] = {}
    tries: dict[int, int] = {}

    def submit(number: int, with_model: bool) -> None:
        at, task, points = study.part(number)
        data: Optional[bytes] = study.data(at) if with_model else None
        try:
            future = executor.submit(_run_chunk, task, points, data, study.permissions)
        except BrokenExecutor as error:
            raise _broken(error) from error
        running[future] = (number, with_model)

    try:
        while waiting or running:
            while waiting and len(running) < _AHEAD * workers:
                submit(waiting.pop(), False)
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                number, had_model = running.pop(future)
                try:
                    made = future.result()
                except _errors.Error:
                    raise
                except BrokenExecutor as error:
                    raise _broken(error) from error
                except Exception as error:
                    tries[number] = tries.get(number, 0) + 1
                    if tries[number] > retries:
                        raise _lost(number, error) from error
                    submit(number, had_model)
                    continue
                if isinstance(made, str):
                    submit(number, True)
                else:
                    done(number, made)
    finally:
        for future in running:
            future.cancel()


def _is_dask(executor: Any) -> bool:
    kind = type(executor)
    return kind.__name__ == "Client" and kind.__module__.split(".")[0] == "distributed"


def _dask(client: Any, study: _Study, missing: list[int], done: Done, retries: int) -> None:
    """The scheduler keeps the bytes of the model on every worker, and gives tasks of lost workers to others."""
    from distributed import as_completed

    models: dict[int, Any] = {}
    running: dict[Any, int] = {}
    waiting = list(reversed(missing))
    n_threads = sum(client.nthreads().values()) or 1

    def submit(number: int) -> Any:
        at, task, points = study.part(number)
        if at not in models:
            models[at] = client.scatter(study.data(at), broadcast=True, hash=True)
        future = client.submit(_run_chunk, task, points, models[at], study.permissions, pure=False, retries=retries)
        running[future] = number
        return future

    first = [submit(waiting.pop()) for _ in range(min(len(waiting), _AHEAD * n_threads))]
    completed = as_completed(first, with_results=False)
    try:
        for future in completed:
            number = running.pop(future)
            try:
                made = future.result()
            except _errors.Error:
                raise
            except Exception as error:
                raise _lost(number, error) from error
            done(number, made)
            future.release()
            if waiting:
                completed.add(submit(waiting.pop()))
    finally:
        client.cancel(list(running))


def _ray(ray: Any, study: _Study, missing: list[int], done: Done, retries: int) -> None:
    remote = ray.remote(_run_chunk).options(max_retries=retries)
    models: dict[int, Any] = {}
    running: dict[Any, int] = {}
    waiting = list(reversed(missing))
    most = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    while waiting or running:
        while waiting and len(running) < most:
            number = waiting.pop()
            at, task, points = study.part(number)
            if at not in models:
                models[at] = ray.put(study.data(at))
            running[remote.remote(task, points, models[at], study.permissions)] = number
        finished, _ = ray.wait(list(running), num_returns=1)
        for reference in finished:
            done(running.pop(reference), ray.get(reference))
