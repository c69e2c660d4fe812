"""Archives and what else holds files, within bounds."""
