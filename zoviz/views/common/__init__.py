"""The modules that all views share: colours, styles, lazy containers, the page's run."""
