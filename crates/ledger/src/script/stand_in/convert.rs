//! Between values of Lua and those of a server, by the server's rules.

use super::Value;
use mlua::{IntoLua, Lua, Table};

/// What a command answered, as a script sees it.
pub(super) fn to_lua(lua: &Lua, value: Value) -> mlua::Result<mlua::Value> {
    Ok(match value {
        Value::Nil => mlua::Value::Boolean(false),
        #[expect(clippy::cast_precision_loss, reason = "as on a server")]
        Value::Int(number) => mlua::Value::Number(number as f64),
        Value::Bulk(bytes) => mlua::Value::String(lua.create_string(bytes)?),
        Value::Array(values) => mlua::Value::Table(list(lua, values, |value| to_lua(lua, value))?),
    })
}

/// A list made item by item: the interpreter has room for some thousand values that are not in any table.
pub(super) fn list<T, V: IntoLua>(
    lua: &Lua,
    items: impl IntoIterator<Item = T>,
    make: impl Fn(T) -> mlua::Result<V>,
) -> mlua::Result<Table> {
    let list = lua.create_table()?;
    for item in items {
        list.raw_push(make(item)?)?;
    }
    Ok(list)
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
