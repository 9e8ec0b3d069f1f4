"""Reports: runs as one file that needs nothing else, as a page, as Markdown or for print."""
