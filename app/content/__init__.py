"""What a visitor meets, as data: the fourteen chapters, their order and their stand scenes."""
