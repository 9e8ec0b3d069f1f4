"""How sure an answer is: intervals of values, of the minimum nearby, and of what limits are worth."""
