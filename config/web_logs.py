"""The lines that the web server itself writes: one for each request, and its errors."""

from typing import Any

from gunicorn.glogging import Logger

from config.logs import KeylessFormatter


class KeylessLogger(Logger):
    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        errors = KeylessFormatter(self.error_fmt, datefmt=self.datefmt)
        requests = KeylessFormatter(self.access_fmt)
        for log, formatter in ((self.error_log, errors), (self.access_log, requests)):
            for handler in log.handlers:
                handler.setFormatter(formatter)
