//! What scripts use of the server's `struct` library: rows of doubles, the lowest byte first.

use mlua::{Lua, LuaString, Table, Variadic};

pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    library.set(
        "pack",
        lua.create_function(|lua, (format, row): (String, Variadic<f64>)| {
            check(&format, row.len())?;
            lua.create_string(row.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
        })?,
    )?;
    library.set(
        "unpack",
        lua.create_function(|_, (format, row, from): (String, LuaString, Option<usize>)| {
            let bytes = row.as_bytes();
            let bytes = bytes.get(from.unwrap_or(1).saturating_sub(1)..).unwrap_or_default();
            let numbers =
                bytes.chunks_exact(8).filter_map(|number| Some(f64::from_le_bytes(number.try_into().ok()?)));
            let numbers: Variadic<f64> = numbers.take(format.len().saturating_sub(1)).collect();
            check(&format, numbers.len())?;
            Ok(numbers)
        })?,
    )?;
    Ok(library)
}

fn check(format: &str, numbers: usize) -> mlua::Result<()> {
    if format.strip_prefix('<') == Some("d".repeat(numbers).as_str()) {
        return Ok(());
    }
    Err(mlua::Error::runtime(format!("{numbers} numbers are no row of the format {format:?}")))
}
