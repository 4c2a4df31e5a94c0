"""The pages of the playground. Each module adds its pages with ``add_pages``."""
