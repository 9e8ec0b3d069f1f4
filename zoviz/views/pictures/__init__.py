"""Pictures of problems, one file each; a new file here shows on the dashboard for the problems that it can draw."""
