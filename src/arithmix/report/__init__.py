"""What people see of records. No torch."""
