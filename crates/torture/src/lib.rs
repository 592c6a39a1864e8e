//! What the tests of the program share with its torture.

pub mod disk;
