"""Events in a text, by the event types and roles of a project's own schema."""
