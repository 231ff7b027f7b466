"""Looks at test items: the page in between that asks why, and the list of all looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlencode, urlsplit

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from labeling.core import access
from labeling.core.views.access import own_address
from labeling.core.views.paging import page_of
from labeling.domain.errors import RuleError
from labeling.gold import looks as service
from labeling.gold.forms.gold import ReasonForm
from labeling.gold.looks import ReasonNeeded, Sight
from labeling.models import GoldRelease, Look
from labeling.words import words

SALT = "labeling.looks"


def address(releases: Sequence[GoldRelease], sight: Sight, to: str) -> str:
    """The page that asks why, and then leads to ``to``. The releases need their projects.

    What somebody would see there, and where they wanted to go, is signed into the address.
    """
    wanted = [[release.pk for release in releases], *map(str, sight), to]
    first = releases[0]
    page = reverse("gold-look", args=[first.project.slug, first.name, first.version])
    return f"{page}?{urlencode({'for': signing.dumps(wanted, salt=SALT, compress=True)})}"


def asks_why(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """Middleware: a page that may only be seen for a reason leads to the page that asks for it."""

    def passed_on(request: HttpRequest) -> HttpResponse:
        return get_response(request)

    passed_on.process_exception = _lead_to_reason  # type: ignore[attr-defined]
    return passed_on


def _lead_to_reason(request: HttpRequest, error: Exception) -> HttpResponse | None:
    if not isinstance(error, ReasonNeeded):
        return None
    asked = address(error.releases, error.sight, _meant(request))
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(headers={"HX-Redirect": asked})
    return HttpResponseRedirect(asked)


def _meant(request: HttpRequest) -> str:
    """The page that was asked for; of a part, or of what was sent, the page around it."""
    if request.method == "GET" and not request.htmx:  # type: ignore[attr-defined]
        return request.get_full_path()
    around = urlsplit(request.headers.get("HX-Current-URL") or request.headers.get("Referer") or "")
    if around.netloc and around.netloc != request.get_host():
        return ""
    return own_address(request, around._replace(scheme="", netloc="", fragment="").geturl())


@require_http_methods(["GET", "POST"])
def gold_look(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    """These are test items: why do you look?"""
    project = access.readable(request.user, slug)
    release = get_object_or_404(
        GoldRelease.objects.light(), project=project, name=name, version=version
    )
    shown, sight, to = _wanted(request, release)
    visible = GoldRelease.objects.visible_to(request.user).light()
    releases = list(visible.filter(pk__in=shown).order_by("-pk"))
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            service.state(request.user, releases, sight, form.cleaned_data["reason"])
        except RuleError as error:
            form.add_error(None, words(error.fact))
        else:
            return HttpResponseRedirect(to)
    context = {
        "project": project,
        "release": release,
        "form": form,
        "purpose": Look.Purpose(sight.purpose).label,
        "standings": [(each, service.looks_at(each).count()) for each in releases],
        "n_items": service.test_items(release).count(),
    }
    return render(
        request, "labeling/look.html", context, status=400 if request.method == "POST" else 200
    )


def _wanted(request: HttpRequest, release: GoldRelease) -> tuple[list[int], Sight, str]:
    """What the address says; without a word, the release's own labels."""
    page = release.get_absolute_url()
    if (signed := request.GET.get("for")) is None:
        return [release.pk], Sight(Look.Purpose.LABELS), page
    try:
        releases, purpose, subject, named, to = signing.loads(signed, salt=SALT)
    except (signing.BadSignature, ValueError) as error:
        raise Http404 from error
    return releases, Sight(purpose, subject, named), own_address(request, to) or page


# --- the list -------------------------------------------------------------------------------------


@require_GET
def looks(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    rows = service.of_project(project)
    page = page_of(rows, order=["-pk"], after=request.GET.get("after"), anchors=rows)
    return render(request, "labeling/looks.html", {"project": project, "page": page})
