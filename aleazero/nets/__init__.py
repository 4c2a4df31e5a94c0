"""Networks: what they look like, how they are stored, and how they answer. Only ``body`` needs torch."""
