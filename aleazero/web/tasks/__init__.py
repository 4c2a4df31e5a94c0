"""What the pages need from rules and searches. It runs in worker processes, never in the server."""
