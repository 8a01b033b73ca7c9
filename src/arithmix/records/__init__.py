"""Records of trainings: one row per member, in SQLite, keyed by what was asked. No torch."""
