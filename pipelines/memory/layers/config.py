"""The settings of the build layers: nobody sets others, and their values name what was built."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class LayersConfig(BaseModel):
    model_config = ConfigDict(frozen=True)

    implementation: str = "local"
    burst_gap_seconds: int = 1800  # a pause that long starts a new burst
    window: int = 4  # messages compared on each side of a possible cut
    cut_depth: float = 0.5  # how much deeper than usual a valley must be, in deviations
    least_messages: int = 4  # a burst is not cut into shorter topics
    most_messages: int = 40  # a longer topic is cut at its deepest valley
    same_topic: float = 0.55  # similarity from which a topic is an earlier one
    silence_factor: float = 3.0  # a silence is that many times the usual pause
    anomaly_deviations: float = 2.0  # sample deviations above the mean
    pet_names: tuple[str, ...] = ()  # empty: those of the chat's first part
    link_similarity: float = 0.5  # from which two topics are linked
    neighbours: int = 3  # a topic is linked only to that many most similar
