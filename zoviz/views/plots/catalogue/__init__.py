"""The plots, one file each; a new file here is a new plot everywhere."""
