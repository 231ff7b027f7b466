"""What holds for every test: no network beyond this machine, an own database, an own queue."""

import ipaddress
import socket
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import pytest_django
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.core.management.commands.flush import Command as Flush
from django.db import OperationalError, connection, connections
from django.db.backends.base.introspection import BaseDatabaseIntrospection
from django.test import Client, override_settings
from django.utils import translation

from config.celery import app as celery_app
from config.celery import file_queue
from evaluation.models import guards as evaluation_guards
from labeling.agreement.matching.similarity import Ruler
from labeling.core.models import guards
from labeling.models import Project
from tests import databases, factories
from tests.fakes import WordOverlap

KEPT = {"auth_permission", "django_content_type"}
DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}

# A busy machine is not a failed law, and what held here holds there: the same examples each time.
slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "patient", deadline=None, derandomize=True, suppress_health_check=slow
)
hypothesis.settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        uses_database = DATABASE_FIXTURES.intersection(getattr(item, "fixturenames", ()))
        if not (uses_database or item.get_closest_marker("django_db")):
            item.add_marker(pytest.mark.no_database)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """What a test logged goes to the main process as UTF-8, which knows no lone surrogates."""
    report = yield
    return encodable(report)


def encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {encodable(key): encodable(content) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(encodable, value))
    return value


@pytest.fixture(autouse=True, scope="session")
def no_outside_network() -> Iterator[None]:
    """A test that needs the internet fails here at once, wherever it runs."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            refuse_outside(address[0])
        connect(self, address)

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_outside(host)
        return look_up(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


def refuse_outside(host: str | bytes | None) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name not in (None, "", "localhost") and not is_loopback(str(name)):
        raise AssertionError(f"A test tried to reach {name}: tests use no network.")


def is_loopback(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
    django_db_use_migrations: bool,
    migrated_databases: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """SQLite: a file of this process alone, so that threads, servers and other runs fit in."""
    own = tmp_path_factory.mktemp("database") / "test.sqlite3"
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(own)
    if django_db_use_migrations:
        databases.use_template(connection, migrated_databases, own)


@pytest.fixture(scope="session")
def migrated_databases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder in which ``tests/databases.py`` keeps a migrated database from run to run."""
    cache = getattr(request.config, "cache", None)
    return cache.mkdir("databases") if cache else tmp_path_factory.mktemp("databases")


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_use_migrations: bool) -> bool:
    """SQLite: the copy is there already, and goes with the folder of the test run."""
    return connection.vendor == "sqlite" and django_db_use_migrations


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[None]:
    """PostgreSQL drops no database that a thread or a killed process of a test left open."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(autouse=True, scope="session")
def own_queue(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Messages of a test never reach a worker that somebody has running."""
    celery_app.conf.update(file_queue(tmp_path_factory.mktemp("queue")))


@pytest.fixture(autouse=True, scope="session")
def flush_past_the_guards() -> Iterator[None]:
    """Tests that commit are followed by a flush, which the guards rightly refuse.

    They are removed for it, and put back. What only ``migrate`` writes stays: making it again takes
    longer than many a test. A page's last request may still be under way: PostgreSQL then breaks
    one of the two off, so it is tried again.
    """
    flush, names = Flush.handle, BaseDatabaseIntrospection.django_table_names
    all_guards = [*guards.GUARDS, *evaluation_guards.GUARDS]

    def without_kept(self: BaseDatabaseIntrospection, **options: Any) -> list[str]:
        return [name for name in names(self, **options) if name not in KEPT]

    def unguarded(self: Flush, **options: Any) -> None:
        for is_last in (False, False, True):
            try:
                guards.remove(connections[options["database"]], all_guards)
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(BaseDatabaseIntrospection, "django_table_names", without_kept)
                    flush(self, **options | {"inhibit_post_migrate": True})
                return guards.install(connections[options["database"]], all_guards)
            except (OperationalError, CommandError):
                if is_last:
                    raise
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flush, "handle", unguarded)
        yield


@pytest.fixture(autouse=True)
def language_of_the_settings() -> Iterator[None]:
    """A request of the test client leaves its language behind for the next test."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True, scope="session")
def work_in_this_process() -> Iterator[None]:
    """Where a test's own pipelines and its database are."""
    with override_settings(CASE_PROCESSES=False):
        yield


@pytest.fixture(autouse=True, scope="session")
def unbuilt_static_files() -> Iterator[None]:
    """Pages name the sources of scripts and sheets; those that browsers open name what is built."""
    with override_settings(
        STORAGES={
            **settings.STORAGES,
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        }
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def quick_passwords() -> Iterator[None]:
    """A slow hash is what protects real passwords and what makes test suites slow."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture
def people(db: None) -> dict[str, User]:
    return factories.make_people()


def _person(name: str) -> Any:
    @pytest.fixture(name=name)
    def person(people: dict[str, User]) -> User:
        return people[name]

    return person


NAMES = ("ana", "ben", "cleo", "rita", "noor", "olga", "admin")
ana, ben, cleo, rita, noor, olga, admin = map(_person, NAMES)


@pytest.fixture
def project(people: dict[str, User]) -> Project:
    return factories.make_project()


@pytest.fixture
def ruler() -> Ruler:
    """Counts words: quick, and exact enough to do by hand."""
    return Ruler(WordOverlap())


@pytest.fixture
def signed_in() -> Callable[[User], Client]:
    """A browser-like client of one person, with CSRF checks off as in Django's own client."""

    def client_of(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return client_of
