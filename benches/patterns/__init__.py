"""What every regular expression of the code base costs on hostile texts."""
