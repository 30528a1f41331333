//! Tollgate among other people's frameworks: see `examples` and `tests`.
