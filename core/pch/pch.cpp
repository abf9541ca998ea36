// Holds the precompiled header that every source on libtorch shares (25 s a file without it, 12 s with it).
