"""How values are spelt as bytes, and the names that older stores hold."""
