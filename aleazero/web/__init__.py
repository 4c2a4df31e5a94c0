"""The playground: pages for a browser, built with NiceGUI on top of the HTTP API's sessions and worker processes."""
