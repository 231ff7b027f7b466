"""The lines that the web server itself writes: one for each request, and its errors."""

from typing import Any

from gunicorn.glogging import Logger

from config.logs import formatter

REQUEST_ID = "X-Request-ID"


class KeylessLogger(Logger):
    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for log in (self.error_log, self.access_log):
            for handler in log.handlers:
                handler.setFormatter(formatter())

    def access(self, resp: Any, req: Any, environ: dict[str, Any], request_time: Any) -> None:
        """Nobody's name: who did what is in the audit log."""
        if not self.access_log_enabled:
            return
        atoms = self.atoms(resp, req, environ, request_time)
        seconds = round(request_time.total_seconds(), 3)
        safe = self.atoms_wrapper_class(atoms)  # a quote of the caller ends nothing
        line = f'{safe["h"]} "{safe["r"]}" {safe["s"]} {safe["B"]} {seconds} s "{safe["a"]}"'
        own = dict(resp.headers).get(REQUEST_ID, "")
        access = {
            "address": atoms["h"],
            "method": atoms["m"],
            "path": atoms["U"],
            "status": int(atoms["s"]),
            "bytes": atoms["B"],
            "seconds": seconds,
        }
        self.access_log.info("%s", line, extra={"request_id": own, "access": access})
