"""The HTTP API ``/api/v1``: ``app`` has its application, ``server`` its connections."""
