"""What pages are made of, side by side in both schemes, for people who write pages."""

from __future__ import annotations

from django.contrib.auth.mixins import UserPassesTestMixin
from django.views.generic import TemplateView


class Components(UserPassesTestMixin, TemplateView):
    template_name = "components.html"
    schemes = ("light", "dark")

    def test_func(self) -> bool:
        return bool(self.request.user.is_staff)
