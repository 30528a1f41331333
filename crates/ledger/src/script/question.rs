//! Questions, kept by scripts of their own: they share nothing with the book.

use super::text::Script;

macro_rules! script {
    ($name:literal) => {
        Script {
            name: $name,
            text: concat!(
                include_str!("lua/clock.lua"),
                include_str!(concat!("lua/question/", $name, ".lua")),
            ),
        }
    };
}

pub(super) static ASK: Script = script!("ask");
pub(super) static ANSWER: Script = script!("answer");
pub(super) static ANSWER_TO: Script = script!("answer_to");
