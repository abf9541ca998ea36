// Holds a precompiled header that the tests of one kind share: a file of theirs compiles in half the time.
