"""The room of the papers' experiments: what each claims, what we measured, and a click that runs it live."""
