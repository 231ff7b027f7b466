"""One operation for all tables of an app: what a new database needs instead of its history."""

from collections.abc import Sequence

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation


class CreateTables(Operation):
    """What the operations make in the end, by one statement a table and index.

    One after the other, each would compute the state of all models again, and SQLite would copy
    a table for each constraint that is added to it. They may only create models and add to them.
    """

    reversible = True

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)  # otherwise it is brought up to date after each of them
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for model in self._models(app_label, to_state):
            if self.allow_migrate_model(schema_editor.connection.alias, model):
                schema_editor.create_model(model)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for model in reversed(self._models(app_label, from_state)):
            if self.allow_migrate_model(schema_editor.connection.alias, model):
                schema_editor.delete_model(model)

    def describe(self):
        return "Create all tables"

    def _models(self, app_label, state):
        return [
            state.apps.get_model(app_label, operation.name)
            for operation in self.operations
            if isinstance(operation, CreateModel)
        ]
