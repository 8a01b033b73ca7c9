"""Rulers, verdicts and statistics: what a training's errors mean. No torch."""
