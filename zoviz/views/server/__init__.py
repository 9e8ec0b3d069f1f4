"""Servers of the dashboard for several people: settings, who they are, health, and an end that loses nothing."""
