"""What all views share: colours, styles, lazy containers."""
