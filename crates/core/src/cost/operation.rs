use core::fmt;

macro_rules! operations {
    ($($variant:ident $name:literal $base:literal,)+) => {
        /// What a request does, as far as its price is concerned.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Operation {
            $(#[doc = concat!("`", $name, "`, ", $base, " by default.")] $variant,)+
        }

        impl Operation {
            /// Every operation, in the order of [`Operation::index`].
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),+];

            /// The operation's name, as in configuration and reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What the operation costs unless configured otherwise.
            pub const fn default_base(self) -> u32 {
                match self { $(Self::$variant => $base),+ }
            }
        }
    };
}

operations! {
    Get "GET" 1,
    Head "HEAD" 1,
    Put "PUT" 5,
    Post "POST" 5,
    Patch "PATCH" 3,
    Delete "DELETE" 2,
    List "LIST" 3,
    Copy "COPY" 6,
    MultipartInit "MULTIPART_INIT" 2,
    MultipartUpload "MULTIPART_UPLOAD" 4,
    MultipartComplete "MULTIPART_COMPLETE" 8,
    MultipartAbort "MULTIPART_ABORT" 3,
    Other "OTHER" 1,
}

impl Operation {
    /// How many operations there are.
    pub const COUNT: usize = 13;

    /// A small number for tables of counters.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The operation of that name in any case; [`Operation::Other`] for any other text.
    pub fn parse(name: &str) -> Self {
        Self::named(name).unwrap_or(Self::Other)
    }

    /// The operation of that name in any case, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case() {
        assert_eq!(Operation::parse("get"), Operation::Get);
        assert_eq!(Operation::parse("Multipart_Complete"), Operation::MultipartComplete);
        for other in ["", "OPTIONS", "GET ", "\u{1F680}"] {
            assert_eq!(Operation::parse(other), Operation::Other, "{other:?}");
        }
    }

    #[test]
    fn indexes_are_positions() {
        for (i, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(operation.index(), i);
        }
    }
}
