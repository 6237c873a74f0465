"""The service: posting advice and related lists over HTTP, safe to put on a network.

The only room that knows the web framework. `schema` is the contract, `app` the routes, `server` the process.
"""
