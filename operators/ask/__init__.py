"""Asking: what a planner is shown, the steps that it plans and carries out, and the answer with its citations.

Rules (``rules``) or a model (``model``) plan and answer; ``execute`` is the loop that both go through. What reads memory is
handed in as tools: this room knows neither tables nor retrieval.
"""
