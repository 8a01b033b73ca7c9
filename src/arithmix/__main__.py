"""`python -m arithmix`."""

from .cli import main

main()
