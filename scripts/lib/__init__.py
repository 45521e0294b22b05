"""What setup and test share."""
