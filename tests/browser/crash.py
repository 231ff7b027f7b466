"""A server and a browser of their own, started as in life and killed without a warning."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import BrowserContext, Error, Page, Playwright

from config.serve import answers, web_command
from tests.browser.conftest import ARGUMENTS, PATIENCE, browser_path
from tests.processes import database_url, free_port

SECONDS_TO_START = 60


class Server:
    """The web server of ``make serve`` on the database of the test."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "web.log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        (folder / "static").symlink_to(settings.STATIC_ROOT)  # built for all tests of this folder
        self.environment = os.environ | {
            "ASSAY_DATA_DIR": str(folder),
            "ASSAY_ENV_FILE": os.devnull,
            "ASSAY_SECRET_KEY": settings.SECRET_KEY,  # the sessions stay valid
            "DATABASE_URL": database_url(),
        }

    def start(self) -> Server:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                web_command("127.0.0.1", self.port),
                cwd=settings.BASE_DIR,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        deadline = time.monotonic() + SECONDS_TO_START
        while not answers(f"{self.url}/readyz?only=database"):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)
        return self

    def kill(self) -> None:
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None


class Desktop:
    """A person's browser: whatever it keeps is in its profile on the disk."""

    def __init__(self, playwright: Playwright, profile: Path) -> None:
        self.playwright = playwright
        self.profile = profile
        self.context: BrowserContext | None = None

    def open(self, server: Server, user: User) -> Page:
        self.context = self.playwright.chromium.launch_persistent_context(
            str(self.profile),
            executable_path=browser_path(),
            args=ARGUMENTS,
            viewport={"width": 1440, "height": 900},
        )
        self.context.set_default_timeout(PATIENCE)
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        cookie = {"name": name, "value": client.cookies[name].value, "url": server.url}
        self.context.add_cookies([cookie])
        return self.context.new_page()

    def kill(self) -> None:
        """Every process of the browser at once, so that none can write anything any more."""
        if self.context is None:
            return
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):  # it went with another one
                process.kill()
        with contextlib.suppress(Error):  # it is closed already
            self.context.close()
        self.context = None

    def processes(self) -> list[psutil.Process]:
        """Those that were started on this profile, and what they have started."""
        mark = f"--user-data-dir={self.profile}"
        mine = psutil.Process().children(recursive=True)
        heads = [one for one in mine if mark in command_of(one)]
        assert heads, "no browser runs on this profile"
        return [*heads, *(child for head in heads for child in head.children(recursive=True))]


def command_of(process: psutil.Process) -> list[str]:
    """Empty for one that has just ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []
