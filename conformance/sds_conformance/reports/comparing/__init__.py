"""Several reports side by side: what differs, what got better and worse, and when.

``columns.py`` keeps of each report what can be compared, ``comparison.py`` sets them beside each other, ``history.py``
one after the other. The rest tells it: on a terminal, as Markdown, as a page, as JSON.
"""
