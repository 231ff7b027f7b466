from django.contrib import admin
from django.urls import include, path

from config.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("", include("labeling.urls")),
    path("", include("evaluation.urls")),
    path("admin/", admin.site.urls),
    path("api/", include("labeling.api.urls")),
    path("api/", include("evaluation.api.urls")),
]
