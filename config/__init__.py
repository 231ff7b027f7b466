"""The Django project: settings, addresses, background work and how all of it is started."""
