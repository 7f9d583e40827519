"""The sources of the documentation site: pages of the repository, and pages that are generated from the code.

`site_map` lists the pages of the repository and their places on the site. `assembly` copies them and rewrites their
links. The other modules write one kind of generated page each, from the catalogue, the commands and the schemas, so
these pages cannot differ from what the suite does.
"""
