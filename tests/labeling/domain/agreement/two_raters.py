"""What two annotators say of the same eight units."""

A = [1, 1, 0, 1, 0, 1, 1, 0]
B = [1, 1, 0, 1, 1, 1, 0, 0]
