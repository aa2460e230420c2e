"""What controllers decide: pure functions from what is there to what should be. The loops are the server's."""
