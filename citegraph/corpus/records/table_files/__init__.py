"""Table files (CSV, spreadsheets) as rows in SQL: typed columns, exact numbers over rows that meet conditions."""
