"""Forms and buttons: pickers, parameter forms, run settings, number fields."""
