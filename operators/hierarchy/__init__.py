"""Topics over episodes over events: what a history is about, when it was, and which rounds say so (AdaMM, section 3.4)."""
