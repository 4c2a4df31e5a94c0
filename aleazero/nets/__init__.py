"""Networks and tables: settings, files, inference and values. Only ``torch_nets`` and ``inference`` import torch."""
