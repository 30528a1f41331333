//! Between values of Lua and those of a server, by the server's rules.

use super::Value;
use mlua::Lua;

/// What a command answered, as a script sees it.
pub(super) fn to_lua(lua: &Lua, value: Value) -> mlua::Result<mlua::Value> {
    Ok(match value {
        Value::Nil => mlua::Value::Boolean(false),
        #[expect(clippy::cast_precision_loss, reason = "as on a server")]
        Value::Int(number) => mlua::Value::Number(number as f64),
        Value::Bulk(bytes) => mlua::Value::String(lua.create_string(bytes)?),
        Value::Array(values) => {
            let values = values.into_iter().map(|value| to_lua(lua, value));
            mlua::Value::Table(lua.create_sequence_from(values.collect::<mlua::Result<Vec<_>>>()?)?)
        }
    })
}

/// What a script returned, as its caller sees it.
pub(super) fn from_lua(value: &mlua::Value) -> mlua::Result<Value> {
    Ok(match value {
        mlua::Value::Nil | mlua::Value::Boolean(false) => Value::Nil,
        mlua::Value::Boolean(true) => Value::Int(1),
        mlua::Value::Integer(number) => Value::Int(*number),
        #[expect(clippy::cast_possible_truncation, reason = "as on a server")]
        mlua::Value::Number(number) => Value::Int(*number as i64),
        mlua::Value::String(text) => Value::Bulk(text.as_bytes().to_vec()),
        mlua::Value::Table(table) => Value::Array(
            table
                .sequence_values::<mlua::Value>()
                .map(|value| from_lua(&value?))
                .collect::<mlua::Result<Vec<_>>>()?,
        ),
        other => return Err(mlua::Error::runtime(format!("a script returned a {}", other.type_name()))),
    })
}
