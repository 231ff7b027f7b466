"""What people type into the screens. A form checks its fields; the rules stay in services."""
