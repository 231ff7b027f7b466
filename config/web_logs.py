"""The lines that the web server itself writes: one for each request, and its errors."""

from typing import Any

from gunicorn.glogging import Logger

from config.logs import KeylessFormatter

REQUEST_ID = "X-Request-ID"


class KeylessLogger(Logger):
    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for log in (self.error_log, self.access_log):
            for handler in log.handlers:
                handler.setFormatter(KeylessFormatter())

    def access(self, resp: Any, req: Any, environ: dict[str, Any], request_time: Any) -> None:
        """Nobody's name: who did what is in the audit log."""
        if not self.access_log_enabled:
            return
        address, status = environ.get("REMOTE_ADDR", "-"), resp.status.partition(" ")[0]
        method, protocol = environ["REQUEST_METHOD"], environ["SERVER_PROTOCOL"]
        asked = _quotable(f"{method} {environ['RAW_URI']} {protocol}")
        browser = _quotable(environ.get("HTTP_USER_AGENT", "-"))
        seconds = round(request_time.total_seconds(), 3)
        line = f'{address} "{asked}" {status} {resp.sent} {seconds} s "{browser}"'
        own = dict(resp.headers).get(REQUEST_ID, "")
        self.access_log.info("%s", line, extra={"request_id": own})


def _quotable(text: str) -> str:
    """A quote of the caller ends nothing."""
    return text.replace('"', '\\"')
