"""What asks a model, made of the settings and the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from configs.settings import Settings

if TYPE_CHECKING:
    from operators.ask.model.fallback import Model


def model_of(settings: Settings) -> Model | None:
    """The model that plans and answers, None where rules do. SettingsError where its key is not in the environment."""
    endpoint = settings.planner_model.endpoint(os.environ)
    if endpoint is None:
        return None
    from operators.ask.model.chat import Chat
    from operators.ask.model.fallback import Model

    return Model(Chat(endpoint))
