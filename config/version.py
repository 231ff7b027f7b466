"""The version of Assay: of the package, ``assay --version``, pages and the API's description."""

VERSION = "0.9.0"
