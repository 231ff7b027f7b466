"""The Django project: settings, addresses, background work and how all of it is started."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
