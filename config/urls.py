from django.contrib import admin
from django.urls import include, path

from labeling.core.views.components import Components

urlpatterns = [
    # first: an address is compared with one pattern after the other, and annotators wait for these
    path("api/", include("labeling.api_urls")),
    path("api/", include("evaluation.api.urls")),
    path("", include("labeling.urls")),
    path("", include("evaluation.urls")),
    path("components/", Components.as_view(), name="components"),
    path("admin/", admin.site.urls),
]

handler400 = "labeling.core.views.errors.bad_request"
handler403 = "labeling.core.views.errors.permission_denied"
handler404 = "labeling.core.views.errors.page_not_found"
handler500 = "labeling.core.views.errors.server_error"
