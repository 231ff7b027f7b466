"""Whose labels a file holds."""

from __future__ import annotations

from difflib import get_close_matches

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Q

from labeling.models import Assignment, Project
from labeling.services import events
from labeling.services.label_answers import Refused


class People:
    """The members of a project and whoever has labelled in it, by user name or e-mail address.

    Others are refused, or made as inactive accounts that nobody can sign in with.
    """

    def __init__(self, project: Project, *, may_create: bool) -> None:
        worked = Assignment.objects.filter(round__project=project).order_by().values("annotator")
        belongs = Q(pk__in=project.memberships.values("user")) | Q(pk__in=worked)
        users = list(User.objects.filter(belongs))
        self._project = project
        self._may_create = may_create
        self._by_name = {user.get_username(): user for user in users}
        self._by_email = {user.email.lower(): user for user in users if user.email}
        self.used: set[str] = set()
        self.created: list[str] = []

    def named(self, name: str) -> User:
        user = self._by_name.get(name) or self._by_email.get(name.lower())
        if user is None:
            user = self._create(name) if self._may_create else self._refuse(name)
        self.used.add(user.get_username())
        return user

    def _refuse(self, name: str) -> User:
        near = get_close_matches(name, self._by_name, n=1)
        hint = f"did you mean {near[0]}?" if near else "add them as a member"
        raise Refused(f"nobody called {name!r} is in the project; {hint}")

    def _create(self, name: str) -> User:
        if User.objects.filter(username=name).exists():
            raise Refused(f"{name!r} has an account outside of the project; add them as a member")
        user = User(username=name, is_active=False)
        user.set_unusable_password()
        try:
            user.clean_fields(exclude=["password"])
        except ValidationError:
            raise Refused(f"{name!r} cannot be a user name") from None
        user.save()
        self._by_name[name] = user
        self.created.append(name)
        events.record("annotator.created", user, project=self._project, user=name)
        return user
