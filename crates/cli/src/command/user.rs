//! Accounts of the console, for whoever can open its database.

use super::{Outcome, serve};
use crate::output;
use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::Path;
use tollgate_admin::{Account, Accounts, Role};

/// See and change the accounts of the console and the admin API
///
/// Works on the database that the configuration names (admin.database), also while tollgate is running: it is the way
/// back in when nobody knows a password any more. Exits with 0 if it was done, 1 if there is no such account or the name
/// is taken, and 2 if the database cannot be used.
#[derive(Debug, Args)]
pub(crate) struct User {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the accounts
    List {
        #[command(flatten)]
        common: Common,
    },
    /// Make an account with a random password, which is printed and has to be changed at the first login
    Add {
        /// 1 to 64 of A-Z a-z 0-9 . _ - @
        name: String,
        /// What it may do: viewer, operator or admin
        #[arg(long, default_value = "viewer", value_parser = role)]
        role: Role,
        #[command(flatten)]
        common: Common,
    },
    /// Give an account a random password, which is printed and has to be changed; its sessions end, and it is enabled
    ResetPassword {
        /// Whose
        name: String,
        #[command(flatten)]
        common: Common,
    },
    /// Change what an account may do; its sessions end
    SetRole {
        /// Whose
        name: String,
        /// viewer, operator or admin
        #[arg(value_parser = role)]
        role: Role,
        #[command(flatten)]
        common: Common,
    },
    /// Remove an account
    Remove {
        /// Which one
        name: String,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Debug, Args)]
struct Common {
    #[command(flatten)]
    place: serve::Place,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl User {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let (What::List { common }
        | What::Add { common, .. }
        | What::ResetPassword { common, .. }
        | What::SetRole { common, .. }
        | What::Remove { common, .. }) = &self.what;
        let Some(config) = common.place.read() else { return Ok(Outcome::Wrong) };
        let database = config.settings.admin.database.reveal();
        // Opening would make it, in the wrong place as likely as not.
        let is_missing = !database.contains(':') && !Path::new(database).exists();
        ensure!(
            !is_missing,
            "there is no database at {database}: the first start of tollgate serve makes it"
        );
        serve::runtime()?.block_on(async {
            let accounts = Accounts::open(database).await.context("cannot use admin.database")?;
            let done = self.what.work(&accounts, common.json).await;
            accounts.close().await;
            done
        })
    }
}

impl What {
    async fn work(&self, accounts: &Accounts, json: bool) -> anyhow::Result<Outcome> {
        let (name, done) = match self {
            Self::List { .. } => return list(&accounts.list().await?, json),
            Self::Add { name, role, .. } => {
                let made = accounts.add(name, *role).await?;
                return tell_password(name, made, json, "the name is taken or is not a name");
            }
            Self::ResetPassword { name, .. } => {
                let made = accounts.reset_password(name).await?;
                return tell_password(name, made, json, "no such account");
            }
            Self::SetRole { name, role, .. } => (name, accounts.set_role(name, *role).await?),
            Self::Remove { name, .. } => (name, accounts.remove(name).await?),
        };
        if !done {
            return refuse(name, "no such account", json);
        }
        if json {
            output::print_json(&json!({"username": name}))?;
        } else {
            output::print(&format!("{name}: done"))?;
        }
        Ok(Outcome::Yes)
    }
}

fn list(accounts: &[Account], json: bool) -> anyhow::Result<Outcome> {
    if json {
        output::print_json(&accounts.iter().map(to_value).collect::<Value>())?;
    } else {
        let lines: Vec<String> = accounts.iter().map(to_line).collect();
        output::print(&lines.join("\n"))?;
    }
    Ok(Outcome::Yes)
}

fn to_value(account: &Account) -> Value {
    json!({
        "username": account.name,
        "role": account.role.name(),
        "enabled": account.is_enabled,
        "must_change": account.must_change,
        "last_login": account.last_login_at,
    })
}

fn to_line(account: &Account) -> String {
    let enabled = if account.is_enabled { "" } else { ", disabled" };
    let change = if account.must_change { ", has to change the password" } else { "" };
    let login = if account.last_login_at.is_some() { "" } else { ", never logged in" };
    format!("{}: {}{enabled}{change}{login}", account.name, account.role.name())
}

fn tell_password(name: &str, password: Option<String>, json: bool, why: &str) -> anyhow::Result<Outcome> {
    let Some(password) = password else { return refuse(name, why, json) };
    if json {
        output::print_json(&json!({"username": name, "password": password}))?;
    } else {
        output::print(&format!(
            "{name}: password {password} (shown this once, to be changed at the next login)"
        ))?;
    }
    Ok(Outcome::Yes)
}

fn refuse(name: &str, why: &str, json: bool) -> anyhow::Result<Outcome> {
    if json {
        output::print_json(&json!({"username": name, "error": why}))?;
    } else {
        output::complain(&format!("{name}: {why}"));
    }
    Ok(Outcome::No)
}

fn role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| "expected viewer, operator or admin".to_owned())
}
