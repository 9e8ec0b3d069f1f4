"""The plots of a run, one file each; a new file here is a new plot on the dashboard."""
