"""Values beside or beneath their labels, as the page looks."""
