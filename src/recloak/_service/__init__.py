"""The service: posting advice and related lists over HTTP.

The only room that imports the web framework. `schema` defines the API, `app` the routes, `server` the process.
"""
