"""Script an Assay server: label, settle, freeze gold, launch and compare runs."""

from assay_client.client import Client
from assay_client.errors import (
    ApiError,
    AssayError,
    Conflict,
    NotAllowed,
    NotAnAssay,
    NotFound,
    NotSignedIn,
    ReasonNeeded,
    ServerUnavailable,
    StillAtWork,
    Unreachable,
    WorkFailed,
)
from assay_client.paging import Rows, to_pandas
from assay_client.transport import Retries

__all__ = [
    "ApiError",
    "AssayError",
    "Client",
    "Conflict",
    "NotAllowed",
    "NotAnAssay",
    "NotFound",
    "NotSignedIn",
    "ReasonNeeded",
    "Retries",
    "Rows",
    "ServerUnavailable",
    "StillAtWork",
    "Unreachable",
    "WorkFailed",
    "to_pandas",
]
