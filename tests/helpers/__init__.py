"""What several test files share: from helpers.<module> import ..., as pyproject.toml has tests/ on the path."""
