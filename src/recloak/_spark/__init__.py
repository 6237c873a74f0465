"""The same steps on a Spark cluster, for ratings that outgrow one machine. Only this room imports pyspark.

`session` starts Spark; `source` reads and checks; `blocks` cuts the users into blocks; `padding`, `bins`, `groups` and
`naming` run the local engine's own functions on blocks and bins; `publish`, `verify`, `inspect`, `related` and
`deviation` are what the command line calls.
"""
