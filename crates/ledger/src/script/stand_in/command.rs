//! The commands that scripts use. Any other is refused, and so is a key of somebody else.

use super::Value;
use super::store::{Bytes, Sorted, Store};
use mlua::Variadic;
use std::fmt;
use tollgate_core::units::Millis;

/// A command and its arguments.
pub(super) struct Command {
    name: String,
    args: Vec<Bytes>,
}

/// Why a command was refused.
#[derive(Debug)]
pub(super) struct CommandError(String);

type Outcome = Result<Value, CommandError>;

impl Command {
    pub(super) fn read(args: &Variadic<mlua::Value>) -> mlua::Result<Self> {
        let mut args = args.iter().map(argument).collect::<mlua::Result<Vec<Bytes>>>()?.into_iter();
        let name = args.next().unwrap_or_default();
        Ok(Self { name: String::from_utf8_lossy(&name).into_owned(), args: args.collect() })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn args(&self) -> &[Bytes] {
        &self.args
    }

    pub(super) fn run(&self, store: &mut Store, root: &[u8], now: Millis) -> Outcome {
        if self.name == "TIME" {
            let (seconds, micros) = (now.get() / 1_000, now.get() % 1_000 * 1_000);
            return Ok(Value::Array(vec![bulk(seconds.to_string()), bulk(micros.to_string())]));
        }
        let keys = if self.name == "DEL" { self.args.len() } else { 1 };
        for key in self.args.iter().take(keys) {
            self.check_key(key, root)?;
        }
        let [key, args @ ..] = self.args.as_slice() else { return Err(self.refuse("takes a key")) };
        match self.name.as_str() {
            "DEL" => Ok(int(self.args.iter().filter(|key| store.remove(key)).count())),
            // Nothing expires here: a test that needs it takes a real server.
            "EXISTS" | "PEXPIRE" => Ok(int(usize::from(store.contains(key)))),
            "HDEL" | "HGET" | "HGETALL" | "HINCRBY" | "HMGET" | "HSET" => self.hash(store, key, args),
            "LINDEX" | "LLEN" | "LPOP" | "LPUSH" | "LRANGE" | "LREM" | "LTRIM" | "RPUSH" => {
                self.list(store, key, args)
            }
            name if name.starts_with('Z') => self.sorted(store, key, args),
            _ => Err(self.refuse("is not a command that scripts use")),
        }
    }

    fn hash(&self, store: &mut Store, key: &Bytes, args: &[Bytes]) -> Outcome {
        let hash = store.hash(key).ok_or_else(|| self.refuse("found something else than a hash"))?;
        let get = |field: &Bytes| hash.get(field).map_or(Value::Nil, |value| Value::Bulk(value.clone()));
        let answer = match (self.name.as_str(), args) {
            ("HDEL", [field]) => int(usize::from(hash.remove(field).is_some())),
            ("HGET", [field]) => get(field),
            ("HGETALL", []) => {
                array(hash.iter().flat_map(|(field, value)| [field, value]).cloned().map(Value::Bulk))
            }
            ("HINCRBY", [field, by]) => {
                let sum = self.number(hash.get(field).map_or(b"0", Vec::as_slice))? + self.number(by)?;
                hash.insert(field.clone(), sum.to_string().into());
                Value::Int(sum)
            }
            ("HMGET", fields) if !fields.is_empty() => array(fields.iter().map(get)),
            ("HSET", pairs) if !pairs.is_empty() && pairs.len() % 2 == 0 => {
                let pairs = pairs.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
                int(pairs
                    .filter_map(|(field, value)| hash.insert(field, value).is_none().then_some(()))
                    .count())
            }
            _ => return Err(self.refuse("has the wrong arguments")),
        };
        store.prune(key);
        Ok(answer)
    }

    fn list(&self, store: &mut Store, key: &Bytes, args: &[Bytes]) -> Outcome {
        let list = store.list(key).ok_or_else(|| self.refuse("found something else than a list"))?;
        let answer = match (self.name.as_str(), args) {
            ("LINDEX", [zero]) if zero == b"0" => list.front().cloned().map_or(Value::Nil, Value::Bulk),
            ("LLEN", []) => int(list.len()),
            ("LPOP", []) => list.pop_front().map_or(Value::Nil, Value::Bulk),
            ("LRANGE", [from, to]) if from == b"0" && to == b"-1" => {
                array(list.iter().cloned().map(Value::Bulk))
            }
            ("LPUSH", [value]) => {
                list.push_front(value.clone());
                int(list.len())
            }
            ("LRANGE", [from, to]) if from == b"0" => {
                array(list.iter().take(self.limit(to)? + 1).cloned().map(Value::Bulk))
            }
            ("LTRIM", [from, to]) if from == b"0" => {
                list.truncate(self.limit(to)? + 1);
                bulk("OK".into())
            }
            ("LREM", [zero, value]) if zero == b"0" => {
                let before = list.len();
                list.retain(|item| item != value);
                int(before - list.len())
            }
            ("RPUSH", values) if !values.is_empty() => {
                list.extend(values.iter().cloned());
                int(list.len())
            }
            _ => return Err(self.refuse("has the wrong arguments")),
        };
        store.prune(key);
        Ok(answer)
    }

    fn sorted(&self, store: &mut Store, key: &Bytes, args: &[Bytes]) -> Outcome {
        let sorted =
            store.sorted(key).ok_or_else(|| self.refuse("found something else than a sorted set"))?;
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let answer = match (self.name.as_str(), args.as_slice()) {
            ("ZADD", [rank, member]) => int(usize::from(sorted.insert(self.number(rank)?, member))),
            ("ZCARD", []) => int(sorted.len()),
            ("ZREM", members) if !members.is_empty() => {
                int(members.iter().filter(|member| sorted.remove(member)).count())
            }
            ("ZSCORE", [member]) => sorted.score(member).map_or(Value::Nil, |score| bulk(score.to_string())),
            _ => self.range(sorted, &args)?,
        };
        store.prune(key);
        Ok(answer)
    }

    fn range(&self, sorted: &Sorted, args: &[&[u8]]) -> Outcome {
        Ok(match (self.name.as_str(), args) {
            ("ZRANGE", [b"0", b"-1"]) => array(sorted.members().map(Value::Bulk)),
            ("ZRANGE", [first, last]) => {
                let (first, end) = (self.limit(first)?, self.limit(last)?.saturating_add(1));
                array(sorted.members().skip(first).take(end.saturating_sub(first)).map(Value::Bulk))
            }
            ("ZRANGE", [b"0", last, b"WITHSCORES"]) => {
                with_scores(sorted.scored().take(self.limit(last)? + 1))
            }
            ("ZRANGEBYSCORE", [least, b"+inf", b"LIMIT", b"0", limit]) => {
                let (least, limit) = (self.number(least)?, self.limit(limit)?);
                array(sorted.from(least).take(limit).map(Value::Bulk))
            }
            ("ZRANGEBYSCORE", [b"-inf", most, b"LIMIT", b"0", limit]) => {
                let (most, limit) = (self.number(most)?, self.limit(limit)?);
                array(sorted.up_to(most).take(limit).map(Value::Bulk))
            }
            ("ZRANGEBYSCORE", [from, b"+inf", b"WITHSCORES", b"LIMIT", b"0", limit]) => {
                with_scores(sorted.above(self.above(from)?).take(self.limit(limit)?))
            }
            ("ZRANGEBYLEX", [from, b"+"]) => array(sorted.after(self.start(from)?).map(Value::Bulk)),
            ("ZRANGEBYLEX", [from, b"+", b"LIMIT", b"0", limit]) => {
                array(sorted.after(self.start(from)?).take(self.limit(limit)?).map(Value::Bulk))
            }
            _ => return Err(self.refuse("has the wrong arguments")),
        })
    }

    fn check_key(&self, key: &[u8], root: &[u8]) -> Result<(), CommandError> {
        match key.strip_prefix(root) {
            Some([] | [b':', ..]) => Ok(()),
            _ => Err(self.refuse("touches a key that does not derive from the declared one")),
        }
    }

    /// The member after which a range starts; `None` if it starts with the first.
    fn start<'a>(&self, from: &'a [u8]) -> Result<Option<&'a [u8]>, CommandError> {
        match from {
            [b'-'] => Ok(None),
            [b'(', after @ ..] => Ok(Some(after)),
            _ => Err(self.refuse("has the wrong start")),
        }
    }

    /// The score above which a range starts.
    fn above(&self, from: &[u8]) -> Result<i64, CommandError> {
        match from {
            [b'(', above @ ..] => self.number(above),
            _ => Err(self.refuse("has the wrong start")),
        }
    }

    fn number(&self, text: &[u8]) -> Result<i64, CommandError> {
        let text = str::from_utf8(text).ok();
        text.and_then(|text| text.parse().ok()).ok_or_else(|| self.refuse("takes a whole number"))
    }

    fn limit(&self, text: &[u8]) -> Result<usize, CommandError> {
        usize::try_from(self.number(text)?).map_err(|_| self.refuse("takes a limit from zero"))
    }

    pub(super) fn refuse(&self, why: &str) -> CommandError {
        let args: Vec<_> = self.args.iter().map(|arg| String::from_utf8_lossy(arg)).collect();
        CommandError(format!("{} {} {why}", self.name, args.join(" ")))
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CommandError {}

/// An argument as it goes to the server. A fraction is refused: the book knows only whole numbers.
fn argument(value: &mlua::Value) -> mlua::Result<Bytes> {
    match value {
        mlua::Value::String(text) => Ok(text.as_bytes().to_vec()),
        mlua::Value::Integer(number) => Ok(number.to_string().into()),
        mlua::Value::Number(number) if number.fract() == 0.0 && number.abs() < 1e17 => {
            Ok(format!("{number:.0}").into())
        }
        other => Err(mlua::Error::runtime(format!("{other:?} is no argument of a command"))),
    }
}

fn array(values: impl Iterator<Item = Value>) -> Value {
    Value::Array(values.collect())
}

fn with_scores(members: impl Iterator<Item = (i64, Bytes)>) -> Value {
    array(members.flat_map(|(score, member)| [Value::Bulk(member), bulk(score.to_string())]))
}

fn bulk(text: String) -> Value {
    Value::Bulk(text.into())
}

fn int(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
