"""Background work: the queue, and the sweep that keeps work going when the queue forgets it.

The database is the truth and a message only a wake-up. So no result is kept here, and a message is
acknowledged when its task begins: what is lost with a worker, another one's sweep finds.
"""

import logging
import os
from functools import cached_property
from json import JSONDecodeError
from pathlib import Path
from threading import Event, Thread
from typing import Any

from celery import Celery, bootsteps
from celery.app import amqp
from celery.signals import celeryd_init, setup_logging
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from kombu import Connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

logger = logging.getLogger(__name__)


def configuration() -> dict[str, Any]:
    return {
        **_broker(),
        "accept_content": ["json"],
        "broker_connection_max_retries": None,  # a broker may be away for a whole night
        "broker_connection_retry_on_startup": True,
        "sweep_task": "evaluation.tasks.sweep",
        "sweep_seconds": 10,
        "task_ignore_result": True,
        # A person waits for the answer to a launch: a broker that is away must not hold it long.
        "task_publish_retry_policy": {"max_retries": 2, "interval_start": 0, "interval_max": 0.2},
        "task_serializer": "json",
        "timezone": settings.TIME_ZONE,
        "worker_enable_remote_control": False,
        "worker_hijack_root_logger": False,
        "worker_pool": "threads",  # each watches a process that does the work
    }


def _broker() -> dict[str, Any]:
    url = settings.CELERY_BROKER_URL  # of the environment Celery takes it by itself, too
    if url == FILES:
        return file_queue(settings.DATA_DIR / "broker")
    if url.startswith("sqla+"):
        said = "CELERY_BROKER_URL: a database is no broker any more; use Redis, or leave it out."
        raise ImproperlyConfigured(said)
    return {"broker_url": url, "worker_prefetch_multiplier": 1}


FILES = "filesystem://"
AT_HAND = {"worker_prefetch_multiplier": 20}
"""A full worker that waits for files acknowledges only every two seconds."""


def file_queue(folder: Path) -> dict[str, Any]:
    """One folder holds all; ``PromptConnection`` makes it again where somebody removed it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = ("data_folder_in", "data_folder_out", "control_folder")
    options = {**dict.fromkeys(names, str(folder)), "polling_interval": 0.3}
    return {"broker_url": FILES, "broker_transport_options": options, **AT_HAND}


@setup_logging.connect
def as_everywhere(**kwargs: Any) -> None:
    """Celery sets up no separate lines: Django's settings say how they look."""


@celeryd_init.connect
def without_banner(instance: Any, **kwargs: Any) -> None:
    logging.captureWarnings(True)  # as lines of the log
    instance.quiet = True


class PromptConnection(Connection):
    """A worker that lost its broker asks for it every few seconds, however long it was away.

    It stays also when the folder was removed, or a message was read of which half was written.
    """

    @cached_property
    def connection_errors(self) -> tuple[type[Exception], ...]:
        return (*super().connection_errors, OSError, JSONDecodeError)

    def ensure_connection(self, *args: Any, **options: Any) -> Any:
        folder = (self.transport_options or {}).get("control_folder")
        if folder and not Path(folder).is_dir():
            Path(folder).mkdir(mode=0o700, parents=True)
            self.transport.state.clear()  # what is written nowhere any more
        pauses = {"interval_start": 1, "interval_step": 0.5, "interval_max": 3}
        return super().ensure_connection(*args, **pauses | options)


class AMQP(amqp.AMQP):
    Connection = PromptConnection


class Sweeper(bootsteps.StartStopStep):
    """Calls the sweep every few seconds inside the worker.

    It runs in a separate thread and is called, not sent: the worker's timers don't run while it
    looks for a lost broker, which is when the sweep is needed.
    """

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self._stopped = Event()

    def start(self, worker: Any) -> None:
        Thread(target=self._repeat, args=[worker.app], name="sweeper", daemon=True).start()

    def stop(self, worker: Any) -> None:
        self._stopped.set()

    def _repeat(self, app: Celery) -> None:
        while not self._stopped.wait(app.conf.sweep_seconds):
            sweep_once(app)


def sweep_once(app: Celery) -> None:
    try:
        app.tasks[app.conf.sweep_task]()
    except Exception:  # the next sweep must run even if this one fails
        logger.exception("The sweep failed; it is tried again in %s s.", app.conf.sweep_seconds)
    finally:
        connections.close_all()


app = Celery("assay", amqp=AMQP)
app.add_defaults(configuration)
app.steps["worker"].add(Sweeper)
app.autodiscover_tasks(["labeling", "evaluation"])
