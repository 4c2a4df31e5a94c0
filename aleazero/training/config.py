"""Settings of training."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from aleazero.nets.config import NetConfig
from aleazero.settings import Settings


class TrainConfig(Settings):
    """How a network is fitted to samples."""

    net: NetConfig = Field(default_factory=NetConfig, description="Of a network that starts from nothing.")
    steps: int = Field(1000, ge=1, description="Batches of one fit.")
    batch_size: int = Field(512, ge=1, description="Samples of a batch.")
    window: int = Field(500_000, ge=1, description="Newest samples that are used; they are held in memory.")
    learning_rate: float = Field(1e-3, gt=0, description="Of AdamW, after the warm-up.")
    schedule: Literal["constant", "cosine"] = Field("cosine", description="After the warm-up, over the steps of a fit.")
    warmup: int = Field(50, ge=0, description="Steps in which the learning rate rises from 0.")
    final_rate: float = Field(0.1, ge=0, le=1, description="Share of the learning rate at the end of the cosine.")
    weight_decay: float = Field(1e-4, ge=0, description="Of AdamW, for the matrices.")
    clip: float = Field(1.0, gt=0, description="Largest norm of a gradient.")
    ema: float = Field(0.995, ge=0, lt=1, description="Of the averaged weights, which play; 0 plays the newest.")
    value_target: Literal["outcome", "root", "mix", "td", "expectation", "exact"] = Field(
        "td", description="See training.targets; exact asks an oracle."
    )
    mix: float = Field(0.5, ge=0, le=1, description="Share of the search's value in `mix`.")
    td_lambda: float = Field(0.9, ge=0, le=1, description="Of `td`, also where `exact` falls back to it.")
    policy_weight: float = Field(1.0, ge=0, description="Of the policy in the loss.")
    value_weight: float = Field(1.0, ge=0, description="Of the values in the loss.")
    margin_weight: float = Field(1.0, ge=0, description="Of the final scores, where the network has that head.")
    margin_share: float = Field(
        0.5, ge=0, le=1, description="Share of the expected margin in the values of a new network with that head."
    )
    optimiser: Literal["fresh", "kept"] = Field(
        "kept", description="What happens to the optimiser's moments when training goes on: forgotten, or kept."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Of the first weights and of the order of samples.")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "cpu", description="Where torch computes; auto: an accelerator where there is one."
    )
    threads: int = Field(1, ge=1, description="Of torch on the processor; the bits of a result depend on it.")
