"""Jobs: what workers do, who is at it, and the child processes in which it is done."""
