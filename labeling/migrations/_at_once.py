"""One operation for all tables of an app: what a new database needs instead of its history."""

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation


class CreateTables(Operation):
    """What the operations make in the end; one by one, each would render all models again."""

    def __init__(self, operations):
        self.operations = operations

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for operation in self.operations:
            if isinstance(operation, CreateModel):
                schema_editor.create_model(to_state.apps.get_model(app_label, operation.name))

    def describe(self):
        return "Create all tables"
