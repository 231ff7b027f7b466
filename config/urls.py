from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("labeling.urls")),
    path("", include("evaluation.urls")),
    path("admin/", admin.site.urls),
    path("api/", include("labeling.api.urls")),
    path("api/", include("evaluation.api.urls")),
]
