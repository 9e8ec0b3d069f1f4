"""Forms and buttons: pickers, parameters, run settings, number fields."""
