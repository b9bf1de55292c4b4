"""Documents for archives, as pure functions of a package's own: crate, citation, bag, deposits."""
