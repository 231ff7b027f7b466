"""Leased work: who holds it, how it ends, and how a run is paused, resumed and cancelled."""
