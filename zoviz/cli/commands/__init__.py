"""The commands, one file each; a new file here is a new command."""
