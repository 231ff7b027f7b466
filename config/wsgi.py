"""The web application, for gunicorn or any other WSGI server."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.assets import require_current

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

require_current()
application = get_wsgi_application()
# Every view is loaded before the first request: threads that load modules at the same time get
# halves of those that import each other.
_ = get_resolver().url_patterns
# With "--preload" the processes of a server share what the collector does not look at.
gc.collect()
gc.freeze()
# A request makes thousands of objects and few circles: the collector need not look several times.
gc.set_threshold(5_000, 10, 10)
