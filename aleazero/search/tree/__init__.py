"""The compiled tree search: loop.py is the main flow, arrays.py the data, group.py and view.py the Python side."""
