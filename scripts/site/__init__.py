"""The site: documents, a page per block, the reference and executed notebooks as HTML that needs no network.

`make docs` writes it to `build/docs/site`.
"""
