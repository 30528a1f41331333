//! A stand-in for Redis inside this process: the shipped scripts under Lua 5.1, on the few commands that they use.

mod command;
mod convert;
mod post;
mod rows;
mod store;

pub use store::Store;

use super::{Channels, Engine, EngineError, Script, Value};
use crate::clock::LedgerClock;
use crate::notice::Notices;
use command::Command;
use mlua::{Function, Lua, LuaOptions, StdLib, Table, Variadic};
use post::Post;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs scripts in this process. Clones share one store.
#[derive(Clone)]
pub struct MluaEngine {
    interpreter: Arc<Mutex<Interpreter>>,
    server: Arc<Mutex<Server>>,
}

/// What the commands of a script work on.
#[derive(Default)]
struct Server {
    store: Store,
    post: Post,
    /// The key that was declared: a script may touch no key that does not derive from it.
    root: Vec<u8>,
    /// How many commands the last script gave.
    commands: usize,
}

struct Interpreter {
    lua: Lua,
    loaded: HashMap<&'static str, Function>,
}

impl MluaEngine {
    /// An empty store on that clock.
    pub fn new(clock: impl LedgerClock + 'static) -> Result<Self, EngineError> {
        let server = Arc::new(Mutex::default());
        let lua = open(clock, &server).map_err(broken)?;
        Ok(Self { interpreter: Arc::new(Mutex::new(Interpreter { lua, loaded: HashMap::new() })), server })
    }

    /// A copy of all that is stored.
    pub fn store(&self) -> Store {
        lock(&self.server).store.clone()
    }

    /// Goes back to a copy, as a failover does that loses what was written since.
    pub fn restore(&self, store: Store) {
        lock(&self.server).store = store;
    }

    /// How many commands the last script gave.
    pub fn commands(&self) -> usize {
        lock(&self.server).commands
    }

    /// What the last script published: channels and messages.
    pub fn published(&self) -> Vec<(String, String)> {
        lock(&self.server).post.published.clone()
    }

    fn run(&self, script: &Script, key: &str, args: &[Vec<u8>]) -> mlua::Result<Value> {
        let mut interpreter = lock(&self.interpreter);
        {
            let mut server = lock(&self.server);
            server.root = key.into();
            server.commands = 0;
            server.post.published.clear();
        }
        convert::from_lua(&interpreter.call(script, key, args)?)
    }
}

impl Engine for MluaEngine {
    async fn eval(&self, script: &Script, key: &str, args: Vec<Vec<u8>>) -> Result<Value, EngineError> {
        self.run(script, key, &args).map_err(broken)
    }

    fn notices(&self, channels: &Channels) -> Notices {
        lock(&self.server).post.listen(channels)
    }
}

impl fmt::Debug for MluaEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MluaEngine").finish_non_exhaustive()
    }
}

impl Interpreter {
    fn call(&mut self, script: &Script, key: &str, args: &[Vec<u8>]) -> mlua::Result<mlua::Value> {
        let globals = self.lua.globals();
        globals.raw_set("KEYS", self.lua.create_sequence_from([key])?)?;
        globals.raw_set("ARGV", convert::list(&self.lua, args, |arg| self.lua.create_string(arg))?)?;
        self.function(script)?.call(())
    }

    fn function(&mut self, script: &Script) -> mlua::Result<Function> {
        if let Some(function) = self.loaded.get(script.name) {
            return Ok(function.clone());
        }
        let function = self.lua.load(script.text).set_name(script.name).into_function()?;
        self.loaded.insert(script.name, function.clone());
        Ok(function)
    }
}

/// An interpreter with the libraries that scripts use, and no others.
fn open(clock: impl LedgerClock + 'static, server: &Arc<Mutex<Server>>) -> mlua::Result<Lua> {
    let lua = Lua::new_with(StdLib::STRING | StdLib::TABLE | StdLib::MATH, LuaOptions::default())?;
    let server = Arc::clone(server);
    let call = Arc::new(move |lua: &Lua, args: &Variadic<mlua::Value>| {
        let command = Command::read(args)?;
        let mut server = lock(&server);
        server.commands += 1;
        let Server { store, post, root, .. } = &mut *server;
        let answer = post.run(&command, root).unwrap_or_else(|| command.run(store, root, clock.now()));
        convert::to_lua(lua, answer.map_err(mlua::Error::external)?)
    });
    let redis = lua.create_table()?;
    let pcall = Arc::clone(&call);
    redis.set("call", lua.create_function(move |lua, args| call(lua, &args))?)?;
    redis.set(
        "pcall",
        lua.create_function(move |lua, args| pcall(lua, &args).or_else(|error| caught(lua, &error)))?,
    )?;
    lua.globals().set("redis", redis)?;
    lua.globals().set("struct", rows::library(&lua)?)?;
    forbid_globals(&lua)?;
    Ok(lua)
}

/// An error as a script finds it that asked not to be ended by it.
fn caught(lua: &Lua, error: &mlua::Error) -> mlua::Result<mlua::Value> {
    let table = lua.create_table()?;
    table.set("err", error.to_string())?;
    Ok(mlua::Value::Table(table))
}

/// As in Redis, a script may neither make a global nor read one that is not there.
fn forbid_globals(lua: &Lua) -> mlua::Result<()> {
    let meta: Table = lua.create_table()?;
    for event in ["__index", "__newindex"] {
        let refuse = lua.create_function(move |_, (_, name): (Table, String)| -> mlua::Result<()> {
            Err(mlua::Error::runtime(format!("{name} is not a local variable")))
        })?;
        meta.set(event, refuse)?;
    }
    lua.globals().set_metatable(Some(meta))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A script that fails half-way leaves what it wrote, as on a server.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn broken(error: impl fmt::Display) -> EngineError {
    EngineError::Protocol(error.to_string())
}
