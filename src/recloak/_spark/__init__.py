"""The same steps on a Spark cluster, for ratings that outgrow one machine. Only this room imports pyspark.

`session` starts Spark; `source` reads and checks; `user_blocks` cuts the users into blocks; `padding`, `user_bins`,
`bin_groups` and `naming` run the local engine's own functions on blocks and bins; `publishing`, `verification`,
`inspection`, `similar_items` and `deviations` are what the library calls.
"""
