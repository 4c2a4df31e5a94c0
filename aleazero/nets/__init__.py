"""Networks and tables: settings, files, inference and values. Only ``torch_nets`` imports torch."""
