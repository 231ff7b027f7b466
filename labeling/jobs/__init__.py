"""Jobs: what workers do, and how: the work is done in child processes, which are watched."""
