"""``kes app``: a local page to work in, from a table to a decision.

The page is a front end of the command line: a search, a prediction or a picture is a command that
runs in the user's folder, in a process of its own, and that the page shows. The server keeps what
the page needs between two visits in the hidden folder ``.kes-app``, and reads or writes no file
outside the folder. It needs the extra ``app``.
"""
