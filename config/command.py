"""The command ``assay``: it starts the product, and reaches every other command by its name.

Django is loaded only when it is known what is wanted, so that help comes at once.
"""

from __future__ import annotations

import ast
import gc
import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import NoReturn

from config.version import VERSION

USAGE = """\
Usage: assay COMMAND [options]

"assay COMMAND --help" explains a command. Names have dashes or underscores.
Settings come from the environment and from .env of {place}.

"""
SERVERS = {
    "serve": "All on one machine: database, web server, worker",
    "web": "The web server alone, for behind a proxy",
    "worker": "One worker alone, on this machine or another",
}
HELP = {
    "serve": """\
Usage: assay serve

Prepares the database and the static files, and runs a web server and a worker until Ctrl-C;
either is started again if it ends. ASSAY_HOST and ASSAY_PORT say where it listens, ASSAY_DEMO
whether the demo project is loaded, ASSAY_WEB_PROCESSES and ASSAY_WORKER_THREADS how many there are.
""",
    "web": """\
Usage: assay web [options of gunicorn]

Runs the web server in the foreground, after building the static files of this version if they
are missing. It listens at ASSAY_HOST and ASSAY_PORT, or where --bind says (unix:/run/assay.sock),
with ASSAY_WEB_PROCESSES processes of four threads. Further options go to gunicorn.
It does not start before "assay migrate" has brought the database to this version.
""",
    "worker": """\
Usage: assay worker [options of celery worker]

Runs one worker in the foreground, with ASSAY_WORKER_THREADS threads for long work and one more.
Each thread watches a process that does the work. Further options go to celery.
It does not start before "assay migrate" has brought the database to this version.
""",
}
DJANGO = {
    "migrate": "Bring the database to this version",
    "check": "Say what is missing before a team uses this server",
    "changepassword": "Set the password of an account",
}
CHECK = ["--deploy", "--database", "default"]
"""Of the command of that name: all that can be missing, also in the database."""
APPS = ("labeling", "evaluation")


def main() -> None:
    """The entry point of the package."""
    run(sys.argv[1:])


def run(arguments: list[str]) -> None:
    if not arguments or arguments[0] in ("help", "-h", "--help"):
        if len(arguments) < 2:
            print(overview(), end="")
            return
        arguments = [arguments[1], "--help"]
    name, *options = arguments
    if name in ("--version", "version", "-V"):
        print(f"assay {VERSION}")
    elif name in SERVERS:
        start(name, options)
    else:
        name = name.replace("-", "_")
        manage("assay", name, [*(CHECK if name == "check" else []), *options])


def overview() -> str:
    """All commands, each with the first sentence of its help, read without loading them."""
    place = "the current folder" if (Path(__file__).parent / "files").is_dir() else "the project"
    packages = Path(__file__).resolve().parent.parent
    paths = sorted(
        (path for app in APPS for path in packages.glob(f"{app}/management/commands/[!_]*.py")),
        key=lambda path: path.name,
    )
    commands = {**SERVERS, **DJANGO, **{path.stem: first_sentence(path) for path in paths}}
    lines = [f"  {name.replace('_', '-'):<24}{text}\n" for name, text in commands.items()]
    more = '\nDjango\'s own are there too: "assay shell", "assay dbshell", ...\n'
    return "".join([USAGE.format(place=place), *lines, more])


def first_sentence(path: Path) -> str:
    for statement in ast.parse(path.read_bytes()).body:
        if isinstance(statement, ast.ClassDef) and statement.name == "Command":
            for line in statement.body:
                if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "help":
                    return shortened(str(ast.literal_eval(line.value)))
    return ""


def shortened(text: str) -> str:
    """As much of the first sentence as fits on a line of the terminal."""
    room = max(shutil.get_terminal_size().columns, 80) - 27
    sentence = text.partition(". ")[0].rstrip(".")
    if len(sentence) <= room:
        return sentence
    to_a_pause = sentence[:room].rpartition(", ")[0]
    return to_a_pause or textwrap.shorten(sentence, room, placeholder=" ...")


# --- web server and worker ----------------------------------------------------------------------


def start(name: str, options: list[str]) -> None:
    if "--help" in options or "-h" in options:
        print(HELP[name], end="")
        return
    from config import serve

    if name == "web":
        require_ready()
        build_static_files()
        become([*serve.web_command(*serve.address(), options), *options])
    elif name == "worker":
        require_ready()
        become([*serve.worker_command(), *options])
    elif options:
        sys.exit(f"assay: serve takes no options ({' '.join(options)}): see assay serve --help.")
    else:
        serve.main()


def require_ready() -> None:
    """With tables of an older version the first request would fail, or some later one."""
    from config.newer_tables import require_known_migrations

    load()
    require_known_migrations()
    require_usable()
    if lacks_migrations():
        sys.exit("assay: The database is of an older version: back it up and run “assay migrate”.")


def require_usable() -> None:
    """Neither a folder that nobody can write to, nor keys that somebody can guess."""
    from django.conf import settings

    from config import serve

    try:
        serve.writable_folder(settings.DATA_DIR)
        serve.require_strong(demo=False)
    except serve.Obstacle as obstacle:
        sys.exit(f"assay: {obstacle}")


def build_static_files() -> None:
    from django.conf import settings
    from django.core.management import call_command

    from config.assets import is_current

    if not settings.DEBUG and not is_current(Path(settings.STATIC_ROOT)):
        call_command("collectstatic", interactive=False, verbosity=0)


def become(program: list[str]) -> NoReturn:
    """Replace this process, so that signals and the exit code are the program's own."""
    from config import serve

    os.environ.update(serve.environment())
    os.execv(program[0], program)


# --- management commands ------------------------------------------------------------------------


def manage(program: str, name: str, options: list[str]) -> None:
    """Run a command of Django; its problems end in a line that says what to do."""
    if name != "runserver":  # a command prints what it found out
        os.environ.setdefault("ASSAY_LOG_LEVEL", "WARNING")
    load()
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    from config.newer_tables import require_known_migrations

    if not {"-h", "--help"} & {*options}:
        require_known_migrations()
    try:
        execute_from_command_line([program, name, *options])
    except (DatabaseError, OSError) as error:
        why = None if "--traceback" in options else what_is_missing(error, program)
        if why is None:
            raise
        sys.exit(f"{program}: {why}")


def what_is_missing(error: Exception, program: str) -> str | None:
    """The sentence that a command ends with; None for a fault of ours."""
    from django.db import DatabaseError

    from labeling.jobs import failures

    said = textwrap.shorten(str(error), 500)
    missing = failures.missing(error)
    if missing == failures.DISK_FULL:
        return "The disk is full: free some space and try again. Nothing that was stored is lost."
    if failures.is_read_only(error):
        return f"Cannot write: see who may write to the folder. It says: {said}"
    if missing == failures.NO_DATABASE:
        return (
            "The database does not answer: see that it runs and that DATABASE_URL is right. "
            f"It says: {said}"
        )
    if isinstance(error, DatabaseError) and lacks_migrations():
        return (
            "The tables of the database are missing or of an older version: back it up, run "
            f"“{program} migrate”, and try again."
        )
    return None


def load() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.exceptions import ImproperlyConfigured

    gc.disable()  # modules are kept for good: to look through them takes a tenth of the time
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(f"assay: {error}")
    except OSError as error:
        sys.exit(f"assay: {error.filename or 'The data folder'} cannot be used ({error.strerror}).")
    gc.freeze()
    gc.enable()


def lacks_migrations() -> bool:
    """False also where the database cannot be asked."""
    from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
    from django.db.migrations.executor import MigrationExecutor

    try:
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False


if __name__ == "__main__":
    main()
