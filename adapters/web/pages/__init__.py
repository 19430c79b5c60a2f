"""Pages of the web interface: server-rendered HTML that performs the same requests as the API."""
