/// What the other side has in mind with a connection, as its `Connection` fields say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    closes: bool,
    keeps: bool,
}

impl Wish {
    /// Hears a field; tells whether it says nothing else.
    pub(crate) fn hear(&mut self, value: &[u8]) -> bool {
        let mut is_all = true;
        for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let (closes, keeps) =
                (word.eq_ignore_ascii_case(b"close"), word.eq_ignore_ascii_case(b"keep-alive"));
            self.closes |= closes;
            self.keeps |= keeps;
            is_all &= closes || keeps;
        }
        is_all
    }

    /// Whether there may be another message. Version 1.0 goes unless it says otherwise.
    pub(crate) const fn stays(self, is_1_1: bool) -> bool {
        !self.closes && (is_1_1 || self.keeps)
    }
}
