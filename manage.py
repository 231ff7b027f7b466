#!/usr/bin/env python
"""The commands of the product, for a checkout; ``assay --help`` lists them."""

import sys

from config.command import manage

if __name__ == "__main__":
    name, *options = sys.argv[1:] or ["help"]
    manage("manage.py", name, options)
