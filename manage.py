#!/usr/bin/env python
"""The commands of the product; ``python manage.py help`` lists them."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except DatabaseError:
        if "--traceback" in sys.argv or not lacks_migrations():
            raise
        sys.exit(
            "The tables of the database are missing or of an older version: back it up, run "
            "“manage.py migrate”, and try again."
        )


def lacks_migrations() -> bool:
    """False also where the database cannot be asked."""
    try:
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False


if __name__ == "__main__":
    main()
