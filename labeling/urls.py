from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from labeling.views.docs import docs
from labeling.views.health import healthz
from labeling.views.workspace import next_sample, workspace

urlpatterns = [
    path(
        "sign-in/",
        LoginView.as_view(
            template_name="registration/sign_in.html", redirect_authenticated_user=True
        ),
        name="sign-in",
    ),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("healthz", healthz, name="healthz"),
    path("label/next/", next_sample, name="next-sample"),
    path("label/<int:pk>/", workspace, name="workspace"),
    path("docs/", docs, name="docs"),
    path("docs/<slug:page>/", docs, name="docs-page"),
]
